import { describe, expect, test } from 'vitest'
import { keywordOf, problemOfStopWord } from './keywords.ts'

const told = (text: string, extra: string[] = []) => keywordOf(text, extra)

describe('a text of one word', () => {
  test.each([
    ...[
      'STOP',
      'stop',
      ' Stop! ',
      'STOPALL',
      'stop all',
      'Unsubscribe.',
      'CANCEL',
      'end',
      'QUIT',
      'revoke',
      'OPT OUT',
      'opt-out',
    ],
    ...['optout', 'Arrêt', 'ARRET', 'stopp', 'alto', 'baja', 'parar', 'sair', 'annulla', 'S\u0301TOP'],
  ])('%j stops', (text) => expect(told(text)).toBe('stop'))
  test.each(['START', 'unstop', 'Yes', 'opt in', 'OPTIN'])('%j starts', (text) => expect(told(text)).toBe('start'))
  test.each(['HELP', 'info', 'Aide', 'ayuda', 'Hilfe', 'AIUTO', '¿Ayuda?'])('%j asks for help', (text) =>
    expect(told(text)).toBe('help'),
  )
  test('an extra word stops, in any spelling', () => {
    expect([told('Genug!', ['GENUG']), told('genug', []), told('やめて', ['やめて'])]).toEqual(['stop', null, 'stop'])
  })
  test('an extra word that is stored stops also where it was built in to start or to ask for help', () => {
    expect([told('Yes', ['YES']), told('info', ['INFO']), told('Yes', ['INFO'])]).toEqual(['stop', 'stop', 'start'])
  })
  test('an extra word that starts, asks for help or has no letter is no stop word', () => {
    const wrong = ['YES', 'opt-in', 'Info', '!!!', ' '].map((word) => problemOfStopWord(word))
    expect(wrong).toEqual([
      '"YES" starts messages again and cannot stop them',
      '"opt-in" starts messages again and cannot stop them',
      '"Info" asks for help and cannot stop messages',
      '"!!!" has no letter or digit, so no text would match it',
      '" " has no letter or digit, so no text would match it',
    ])
    expect(['STOP', 'genug', 'やめて', '7'].map((word) => problemOfStopWord(word))).toEqual(Array(4).fill(undefined))
  })
})

describe('a sentence', () => {
  test.each([
    ...[
      'Stop texting me',
      'please stop',
      'Please stop sending these',
      'PLEASE STOP!!!',
      'unsubscribe me now',
      'opt me out',
    ],
    ...[
      'remove me from this list',
      'Take me off your list',
      'leave me alone',
      'no more texts',
      'No more messages please',
    ],
    ...[
      "Please stop. I'm not interested",
      'Please stop, you have the wrong number',
      'Please stop messages',
      'Please stop sms',
      'please stop your texts',
      'Please STOP -- Bob',
      'Please stop\nBob',
      'please stop – wrong number',
      'please stop i am not interested',
      "please stop I'm not interested",
      'Please. Stop.',
      'Please, stop',
    ],
    ...[
      'can you stop texting me',
      'do stop texting me',
      'I do not want this, please stop',
      'I do not want your texts please stop texting me',
      "I don't know you, don't text me",
      'I said do not text me',
      "Don't bother. Please stop!",
      'Who are you? Why me? Do not contact me',
      'Please stop texting me. I have told you several times by now that this is no longer my account.',
    ],
    ...["don't text me", 'Do not contact me again', 'I said stop messaging', 'Please stop, thanks'],
  ])('%j stops', (text) => expect(told(text)).toBe('stop'))
  test.each([
    ...[
      "don't stop texting me",
      'never stop',
      'do not stop sending these',
      'Please don’t stop',
      'the last stop',
      'stop by',
    ],
    ...[
      'please stop by tomorrow',
      'I will stop at the shop',
      'is this the bus stop',
      'yes please',
      'start the car',
      'help me',
    ],
    ...['the end', 'we cannot end this', "don't unsubscribe me", 'never remove me', '', '👍', 'Please stop the car'],
    ...[
      'please do not ever stop messaging',
      'I do not want you to stop texting me',
      "I don't want you guys to ever stop texting me",
      "I didn't ask you to stop sending these",
      'never ever, please, stop texting me',
      'why did you stop texting me?',
      'Did they stop texting you?',
      'what if you stop messaging me',
      'they do not text me anymore, why?',
      "You don't text me any more",
      'you said do not text me',
      'why do not text me',
    ],
    'please stop texting me because I really do not want to hear from any of you ever again',
  ])('%j is only told', (text) => expect(told(text)).toBeNull())
})
