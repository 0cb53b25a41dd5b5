// Who may hold a browser socket in this process: so many in all, from one address, and of one subscriber. A connection without a
// valid token is a guest, apart from the others and for a few seconds only: some clients send their token in the first packet,
// and one whose token is no good learns it there, so that it does not retry forever.

/** Tabs share one socket, so a page that opens more than this is broken, or hostile. */
const mostOfSubscriber = 100
const mostGuests = 200
const mostGuestsOfAddress = 20

/** One connection's place. */
export interface Place {
  readonly isGuest: boolean
  /** The guest's token was right. @returns false if there is no room; it then stays a guest */
  admit(subscriberRowId: string): boolean
  leave(): void
}

interface Limits {
  mostSockets: number
  mostOfAddress: number
}

export class Places {
  readonly #limits: Limits
  readonly #ofAddress = new Tally()
  readonly #ofSubscriber = new Tally()
  readonly #guestsOfAddress = new Tally()
  #members = 0
  #guests = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Without guests. */
  get count(): number {
    return this.#members
  }

  /** A subscriber with too many sockets is a guest, to be told so. */
  hasRoom(address: string, subscriberRowId: string | undefined): boolean {
    return this.#isMember(subscriberRowId) ? this.#hasRoomForMember(address) : this.#hasRoomForGuest(address)
  }

  /** @returns undefined if there is no room */
  enter(address: string, subscriberRowId: string | undefined): Place | undefined {
    if (!this.hasRoom(address, subscriberRowId)) return undefined
    const leaveAsGuest = this.#isMember(subscriberRowId) ? undefined : this.#addGuest(address)
    let leave = leaveAsGuest ?? this.#addMember(address, subscriberRowId ?? '')
    return {
      get isGuest() {
        return leave === leaveAsGuest
      },
      admit: (id) => {
        if (!this.#isMember(id) || !this.#hasRoomForMember(address)) return false
        leave()
        leave = this.#addMember(address, id)
        return true
      },
      leave: () => leave(),
    }
  }

  #isMember(subscriberRowId: string | undefined): boolean {
    return subscriberRowId !== undefined && this.#ofSubscriber.count(subscriberRowId) < mostOfSubscriber
  }

  #hasRoomForMember(address: string): boolean {
    const { mostSockets, mostOfAddress } = this.#limits
    return this.#members < mostSockets && this.#ofAddress.count(address) < mostOfAddress
  }

  #hasRoomForGuest(address: string): boolean {
    return this.#guests < mostGuests && this.#guestsOfAddress.count(address) < mostGuestsOfAddress
  }

  #addGuest(address: string): () => void {
    this.#guests += 1
    this.#guestsOfAddress.add(address)
    return () => {
      this.#guests -= 1
      this.#guestsOfAddress.remove(address)
    }
  }

  #addMember(address: string, subscriberRowId: string): () => void {
    this.#members += 1
    this.#ofAddress.add(address)
    this.#ofSubscriber.add(subscriberRowId)
    return () => {
      this.#members -= 1
      this.#ofAddress.remove(address)
      this.#ofSubscriber.remove(subscriberRowId)
    }
  }
}

/** How many there are of each. */
class Tally {
  readonly #counts = new Map<string, number>()

  count(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  add(name: string): void {
    this.#counts.set(name, this.count(name) + 1)
  }

  remove(name: string): void {
    const left = this.count(name) - 1
    if (left > 0) this.#counts.set(name, left)
    else this.#counts.delete(name)
  }
}
