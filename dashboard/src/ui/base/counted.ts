// Numbers of things in words: "1 run", "1,200 runs".

export const number = (count: number): string => count.toLocaleString('en')

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`
