// The words around a question in its copies and on its page, in the languages of the inbox.
import { type ConsentLanguage, consentLanguage } from './consent-texts.ts'

interface QuestionWords {
  /** Of the button that leads to the page. */
  answer: string
  /** Before the address of the page. */
  open: string
  /** After the reader's own answer. */
  done: string
  /** Nobody answered in time, or it was canceled. */
  over: string
  /** A text is asked for and missing. */
  needsText: string
  /** The answer on top of a closed page. */
  decided: string
}

export const questionWords: Readonly<Record<ConsentLanguage, QuestionWords>> = {
  en: {
    answer: 'Answer',
    open: 'Or answer here:',
    done: 'Thank you, your answer has been taken.',
    over: 'This question is over.',
    needsText: 'Please write something beside your answer.',
    decided: 'This question has been answered.',
  },
  de: {
    answer: 'Antworten',
    open: 'Oder antworten Sie hier:',
    done: 'Danke, Ihre Antwort ist angekommen.',
    over: 'Diese Frage ist nicht mehr offen.',
    needsText: 'Bitte schreiben Sie etwas zu Ihrer Antwort.',
    decided: 'Diese Frage ist beantwortet.',
  },
  fr: {
    answer: 'Répondre',
    open: 'Ou répondez ici :',
    done: 'Merci, votre réponse a été prise en compte.',
    over: 'Cette question n’est plus ouverte.',
    needsText: 'Veuillez écrire quelque chose avec votre réponse.',
    decided: 'Cette question a reçu une réponse.',
  },
  es: {
    answer: 'Responder',
    open: 'O responda aquí:',
    done: 'Gracias, hemos recibido su respuesta.',
    over: 'Esta pregunta ya no está abierta.',
    needsText: 'Escriba algo junto a su respuesta.',
    decided: 'Esta pregunta ya tiene respuesta.',
  },
  it: {
    answer: 'Rispondi',
    open: 'Oppure risponda qui:',
    done: 'Grazie, la sua risposta è stata registrata.',
    over: 'Questa domanda non è più aperta.',
    needsText: 'Scriva qualcosa insieme alla risposta.',
    decided: 'Questa domanda ha già una risposta.',
  },
  pt: {
    answer: 'Responder',
    open: 'Ou responda aqui:',
    done: 'Obrigado, a sua resposta foi registada.',
    over: 'Esta pergunta já não está aberta.',
    needsText: 'Escreva algo junto com a sua resposta.',
    decided: 'Esta pergunta já foi respondida.',
  },
  nl: {
    answer: 'Antwoorden',
    open: 'Of antwoord hier:',
    done: 'Bedankt, uw antwoord is ontvangen.',
    over: 'Deze vraag is niet meer open.',
    needsText: 'Schrijf iets bij uw antwoord.',
    decided: 'Deze vraag is beantwoord.',
  },
  ja: {
    answer: '回答する',
    open: 'こちらからも回答できます：',
    done: '回答を受け付けました。ありがとうございます。',
    over: 'この質問は終了しました。',
    needsText: '回答に加えてコメントを入力してください。',
    decided: 'この質問は回答済みです。',
  },
  zh: {
    answer: '回答',
    open: '或在此回答：',
    done: '谢谢，您的回答已收到。',
    over: '此问题已结束。',
    needsText: '请在回答的同时写一些文字。',
    decided: '此问题已有回答。',
  },
  ar: {
    answer: 'أجب',
    open: 'أو أجب هنا:',
    done: 'شكرًا، تم استلام إجابتك.',
    over: 'انتهى هذا السؤال.',
    needsText: 'يرجى كتابة نص مع إجابتك.',
    decided: 'تمت الإجابة على هذا السؤال.',
  },
}

export const questionLanguage: typeof consentLanguage = consentLanguage
