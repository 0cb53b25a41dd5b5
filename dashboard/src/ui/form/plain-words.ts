// The validator's sentences in plain words. The API keeps its own, which programs compare; people read these, at the field.

const table: Array<[pattern: RegExp, words: (...parts: string[]) => string]> = [
  [/^(should not be empty|should not be null or undefined|must not be empty)$/, () => 'Fill this in.'],
  [/^must be an email$/, () => 'Enter an email address, such as ada@example.com.'],
  [/^must be longer than or equal to (\d+) characters$/, (count) => `Use at least ${count} characters.`],
  [/^must be shorter than or equal to (\d+) characters$/, (count) => `Use at most ${count} characters.`],
  [/^must contain at least (\d+) elements$/, (count) => `Choose at least ${count}.`],
  [/^must contain no more than (\d+) elements$/, (count) => `Choose at most ${count}.`],
  [/^must contain no duplicates$/, () => 'Name each of them once.'],
  [/^must not be less than (\S+)$/, (least) => `Enter ${least} or more.`],
  [/^must not be greater than (\S+)$/, (most) => `Enter ${most} or less.`],
  [/^must be one of the following values: (.+)$/, (values) => `Choose one of these: ${values}.`],
  [/^must be a string$/, () => 'Write text here.'],
  [/^must be a number conforming to the specified constraints$/, () => 'Enter a number.'],
  [/^must be a boolean value$/, () => 'Choose yes or no.'],
  [/^must be an object$/, () => 'Enter an object, such as {"plan": "pro"}.'],
  [/^must be an array$/, () => 'Enter a list.'],
  [
    /^(must be locale|must be a language with its region, such as en_US)$/,
    () => 'Enter a language with its region, such as en_US.',
  ],
  [/^must be a valid IANA time-zone$/, () => 'Choose a time zone, such as Europe/Berlin.'],
  [/^must be a hexadecimal color$/, () => 'Enter a color, such as #1d4ed8.'],
  [/^must be a valid ISO 8601 date string$/, () => 'Enter a date and time, such as 2030-05-01T10:00:00Z.'],
  [/^must be a mongodb id$/, () => 'Nothing has this id.'],
  [/^has a value of the wrong type$/, () => 'This value does not fit here.'],
  [/^must be (an? .+)$/, (what) => `Enter ${what}.`],
]

/** A sentence of the server about the field of this name, for the person who filled it in. */
export function plainWords(message: string, name: string, label: string): string {
  const path = new RegExp(`^(each value in )?${name.replaceAll(/[^\w]/g, '\\$&')}(\\.[\\w.[\\]-]+)? `)
  const rest = message.replace(path, '')
  for (const [pattern, words] of table) {
    const found = pattern.exec(rest)
    if (found) return words(...found.slice(1).filter((part) => part !== undefined))
  }
  if (rest === message) return message
  return `${label} ${rest}${rest.endsWith('.') ? '' : '.'}`
}

/** Of an empty field only that it is empty: that it is also no email address says nothing new. */
export function plainErrors(messages: readonly string[], name: string, label: string): string[] {
  const all = [...new Set(messages.map((message) => plainWords(message, name, label)))]
  return all.includes('Fill this in.') ? ['Fill this in.'] : all
}

/** Several errors of one field, each ended by a full stop; a single one stays as it is. */
export const inSentences = (errors: readonly string[]): string =>
  errors.length === 1 ? (errors[0] ?? '') : errors.map((error) => error.replace(/(?<![.!?])$/, '.')).join(' ')
