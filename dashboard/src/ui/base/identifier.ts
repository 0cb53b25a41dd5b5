// Identifiers from names: "Order shipped!" is `order-shipped`.

export const identifierOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 100)

/** Adds a number if the identifier is taken. */
export function freeIdentifier(wanted: string, taken: ReadonlySet<string>): string {
  let found = wanted
  for (let number = 2; taken.has(found); number += 1) found = `${wanted}-${number}`
  return found
}
