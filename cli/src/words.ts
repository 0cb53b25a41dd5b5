// Numbers in sentences.

/** `1 file`, `2 files` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** `1 of 3 messages differs` */
export const countedOf = (count: number, all: number, noun: string, verb: string, { orMore = false } = {}): string =>
  `${count} of ${all}${orMore ? '+' : ''} ${noun}${all === 1 ? '' : 's'} ${verb}${count === 1 ? 's' : ''}`
