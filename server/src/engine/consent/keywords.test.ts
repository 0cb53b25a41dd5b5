import { describe, expect, test } from 'vitest'
import { keywordOf } from './keywords.ts'

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
    'please stop texting me because I really do not want to hear from any of you ever again',
  ])('%j is only told', (text) => expect(told(text)).toBeNull())
})
