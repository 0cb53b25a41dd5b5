// The word in service-native identifiers. Stored data always says `svc`; only requests and answers carry the brand.
const neutral = 'svc'

export class Brand {
  readonly word: string

  constructor(word: string) {
    this.word = word
  }

  /**
   * Whether doors that its public clients rely on are open until somebody closes them: they publish with an environment's key, and
   * browsers join and create topics. Under our own brand they are closed until somebody opens them.
   */
  get startsOpen(): boolean {
    return this.word === 'novu'
  }

  /** `svc-email` as clients know it, for example `novu-email`. Other identifiers stay unchanged. */
  toWire(identifier: string): string {
    return swapWord(identifier, neutral, this.word)
  }

  toStored(identifier: string): string {
    return swapWord(identifier, this.word, neutral)
  }
}

function swapWord(identifier: string, from: string, to: string): string {
  return identifier === from || identifier.startsWith(`${from}-`) ? to + identifier.slice(from.length) : identifier
}
