// The words of the footer and of the pages behind its links, in the languages of the inbox.

export interface ConsentTexts {
  unsubscribe: string
  /** The page before and after. */
  question: string
  done: string
  undo: string
  undone: string
  /** A link that is not ours. */
  unknown: string
}

export const consentTexts = {
  en: {
    unsubscribe: 'Unsubscribe',
    question: 'Do you want to stop getting these messages?',
    done: 'You are unsubscribed. You will get no more of these messages.',
    undo: 'Undo',
    undone: 'You are subscribed again.',
    unknown: 'This link is not one of ours',
  },
  de: {
    unsubscribe: 'Abmelden',
    question: 'Möchten Sie diese Nachrichten nicht mehr erhalten?',
    done: 'Sie sind abgemeldet und erhalten diese Nachrichten nicht mehr.',
    undo: 'Rückgängig machen',
    undone: 'Sie sind wieder angemeldet.',
    unknown: 'Dieser Link ist nicht von uns',
  },
  fr: {
    unsubscribe: 'Se désabonner',
    question: 'Voulez-vous ne plus recevoir ces messages ?',
    done: 'Vous êtes désabonné. Vous ne recevrez plus ces messages.',
    undo: 'Annuler',
    undone: 'Vous êtes de nouveau abonné.',
    unknown: 'Ce lien n’est pas de nous',
  },
  es: {
    unsubscribe: 'Cancelar suscripción',
    question: '¿Quiere dejar de recibir estos mensajes?',
    done: 'Su suscripción está cancelada. No recibirá más estos mensajes.',
    undo: 'Deshacer',
    undone: 'Está suscrito de nuevo.',
    unknown: 'Este enlace no es nuestro',
  },
  it: {
    unsubscribe: 'Annulla iscrizione',
    question: 'Vuole smettere di ricevere questi messaggi?',
    done: 'Iscrizione annullata. Non riceverà più questi messaggi.',
    undo: 'Annulla',
    undone: 'È di nuovo iscritto.',
    unknown: 'Questo link non è nostro',
  },
  pt: {
    unsubscribe: 'Cancelar inscrição',
    question: 'Quer deixar de receber estas mensagens?',
    done: 'A sua inscrição foi cancelada. Não receberá mais estas mensagens.',
    undo: 'Desfazer',
    undone: 'Está inscrito de novo.',
    unknown: 'Esta ligação não é nossa',
  },
  nl: {
    unsubscribe: 'Afmelden',
    question: 'Wilt u deze berichten niet meer ontvangen?',
    done: 'U bent afgemeld en ontvangt deze berichten niet meer.',
    undo: 'Ongedaan maken',
    undone: 'U bent weer aangemeld.',
    unknown: 'Deze link is niet van ons',
  },
  ja: {
    unsubscribe: '配信停止',
    question: 'このメッセージの配信を停止しますか？',
    done: '配信を停止しました。今後このメッセージは届きません。',
    undo: '元に戻す',
    undone: '配信を再開しました。',
    unknown: 'このリンクは当サービスのものではありません',
  },
  zh: {
    unsubscribe: '退订',
    question: '您想停止接收这些消息吗？',
    done: '您已退订，将不再收到这些消息。',
    undo: '撤销',
    undone: '您已重新订阅。',
    unknown: '此链接不是我们的链接',
  },
  ar: {
    unsubscribe: 'إلغاء الاشتراك',
    question: 'هل تريد التوقف عن تلقي هذه الرسائل؟',
    done: 'تم إلغاء اشتراكك. لن تتلقى هذه الرسائل بعد الآن.',
    undo: 'تراجع',
    undone: 'لقد تم اشتراكك من جديد.',
    unknown: 'هذا الرابط ليس من روابطنا',
  },
} as const satisfies Record<string, ConsentTexts>

export type ConsentLanguage = keyof typeof consentTexts

/** The first of these locales whose language we have, else English. */
export function consentLanguage(...locales: Array<string | null | undefined>): ConsentLanguage {
  for (const locale of locales) {
    const language = locale?.slice(0, 2).toLowerCase() ?? ''
    if (Object.hasOwn(consentTexts, language)) return language as ConsentLanguage
  }
  return 'en'
}
