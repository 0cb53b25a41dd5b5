// The words around a question in its copies and on its page, in the languages of the inbox.
import { type ConsentLanguage, consentLanguage } from './consent-texts.ts'

export interface QuestionWords {
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
  /** With the most characters that a text may have. */
  tooLong: string
  /** The answer on top of a closed page. */
  decided: string
  /** The answer is none of those that are offered. */
  unknownAnswer: string
  /** Somebody else was asked. */
  notAsked: string
  /** For anything else. */
  failed: string
}

export const questionWords: Readonly<Record<ConsentLanguage, QuestionWords>> = {
  en: {
    answer: 'Answer',
    open: 'Or answer here:',
    done: 'Thank you, your answer has been taken.',
    over: 'This question is over.',
    needsText: 'Please write something beside your answer.',
    tooLong: 'Please write at most 2,000 characters.',
    decided: 'This question has been answered.',
    unknownAnswer: 'Please choose one of these answers.',
    notAsked: 'This question was not put to you.',
    failed: 'This did not work. Please try again in a moment.',
  },
  de: {
    answer: 'Antworten',
    open: 'Oder antworten Sie hier:',
    done: 'Danke, Ihre Antwort ist angekommen.',
    over: 'Diese Frage ist nicht mehr offen.',
    needsText: 'Bitte schreiben Sie etwas zu Ihrer Antwort.',
    tooLong: 'Bitte schreiben Sie höchstens 2.000 Zeichen.',
    decided: 'Diese Frage ist beantwortet.',
    unknownAnswer: 'Bitte wählen Sie eine dieser Antworten.',
    notAsked: 'Diese Frage wurde Ihnen nicht gestellt.',
    failed: 'Das hat nicht geklappt. Bitte versuchen Sie es gleich noch einmal.',
  },
  fr: {
    answer: 'Répondre',
    open: 'Ou répondez ici :',
    done: 'Merci, votre réponse a été prise en compte.',
    over: 'Cette question n’est plus ouverte.',
    needsText: 'Veuillez écrire quelque chose avec votre réponse.',
    tooLong: 'Veuillez écrire 2 000 caractères au maximum.',
    decided: 'Cette question a reçu une réponse.',
    unknownAnswer: 'Veuillez choisir une de ces réponses.',
    notAsked: 'Cette question ne vous a pas été posée.',
    failed: 'Cela n’a pas fonctionné. Veuillez réessayer dans un instant.',
  },
  es: {
    answer: 'Responder',
    open: 'O responda aquí:',
    done: 'Gracias, hemos recibido su respuesta.',
    over: 'Esta pregunta ya no está abierta.',
    needsText: 'Escriba algo junto a su respuesta.',
    tooLong: 'Escriba como máximo 2000 caracteres.',
    decided: 'Esta pregunta ya tiene respuesta.',
    unknownAnswer: 'Elija una de estas respuestas.',
    notAsked: 'Esta pregunta no se le ha hecho a usted.',
    failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
  },
  it: {
    answer: 'Rispondi',
    open: 'Oppure risponda qui:',
    done: 'Grazie, la sua risposta è stata registrata.',
    over: 'Questa domanda non è più aperta.',
    needsText: 'Scriva qualcosa insieme alla risposta.',
    tooLong: 'Scriva al massimo 2000 caratteri.',
    decided: 'Questa domanda ha già una risposta.',
    unknownAnswer: 'Scelga una di queste risposte.',
    notAsked: 'Questa domanda non è stata rivolta a lei.',
    failed: 'Non ha funzionato. Riprovi tra un momento.',
  },
  pt: {
    answer: 'Responder',
    open: 'Ou responda aqui:',
    done: 'Obrigado, a sua resposta foi registada.',
    over: 'Esta pergunta já não está aberta.',
    needsText: 'Escreva algo junto com a sua resposta.',
    tooLong: 'Escreva no máximo 2000 caracteres.',
    decided: 'Esta pergunta já foi respondida.',
    unknownAnswer: 'Escolha uma destas respostas.',
    notAsked: 'Esta pergunta não lhe foi feita.',
    failed: 'Não funcionou. Tente de novo daqui a pouco.',
  },
  nl: {
    answer: 'Antwoorden',
    open: 'Of antwoord hier:',
    done: 'Bedankt, uw antwoord is ontvangen.',
    over: 'Deze vraag is niet meer open.',
    needsText: 'Schrijf iets bij uw antwoord.',
    tooLong: 'Schrijf hoogstens 2000 tekens.',
    decided: 'Deze vraag is beantwoord.',
    unknownAnswer: 'Kies een van deze antwoorden.',
    notAsked: 'Deze vraag is niet aan u gesteld.',
    failed: 'Dat is niet gelukt. Probeer het zo nog eens.',
  },
  ja: {
    answer: '回答する',
    open: 'こちらからも回答できます：',
    done: '回答を受け付けました。ありがとうございます。',
    over: 'この質問は終了しました。',
    needsText: '回答に加えてコメントを入力してください。',
    tooLong: '2,000文字以内で入力してください。',
    decided: 'この質問は回答済みです。',
    unknownAnswer: 'この中から回答を選んでください。',
    notAsked: 'この質問はあなた宛てではありません。',
    failed: 'うまくいきませんでした。しばらくしてからもう一度お試しください。',
  },
  zh: {
    answer: '回答',
    open: '或在此回答：',
    done: '谢谢，您的回答已收到。',
    over: '此问题已结束。',
    needsText: '请在回答的同时写一些文字。',
    tooLong: '请最多输入2000个字符。',
    decided: '此问题已有回答。',
    unknownAnswer: '请选择其中一个回答。',
    notAsked: '此问题不是向您提出的。',
    failed: '未能成功，请稍后再试。',
  },
  ar: {
    answer: 'أجب',
    open: 'أو أجب هنا:',
    done: 'شكرًا، تم استلام إجابتك.',
    over: 'انتهى هذا السؤال.',
    needsText: 'يرجى كتابة نص مع إجابتك.',
    tooLong: 'يرجى كتابة 2000 حرف على الأكثر.',
    decided: 'تمت الإجابة على هذا السؤال.',
    unknownAnswer: 'يرجى اختيار إحدى هذه الإجابات.',
    notAsked: 'هذا السؤال لم يُطرح عليك.',
    failed: 'لم ينجح ذلك. يرجى المحاولة بعد قليل.',
  },
}

export const questionLanguage: typeof consentLanguage = consentLanguage
