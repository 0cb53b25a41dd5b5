// A bar with count, rate and time left; where nobody watches, a line every ten seconds.
import type { Terminal } from '../terminal.ts'

const width = 24
const drawEveryMs = 200
const sayEveryMs = 10_000

export class Bar {
  readonly #terminal: Terminal
  readonly #label: string
  readonly #total: number
  readonly #began = Date.now()
  readonly #first: number
  #drawnAt = 0
  #done: number

  constructor(terminal: Terminal, label: string, { done, total }: { done: number; total: number }) {
    this.#terminal = terminal
    this.#label = label
    this.#total = total
    this.#first = done
    this.#done = done
    this.#drawnAt = terminal.isLive ? 0 : Date.now()
  }

  reach(done: number): void {
    this.#done = done
    const now = Date.now()
    if (now - this.#drawnAt < (this.#terminal.isLive ? drawEveryMs : sayEveryMs)) return
    this.#drawnAt = now
    if (this.#terminal.isLive) this.#terminal.redraw(this.#line(true))
    else this.#terminal.say(this.#line(false))
  }

  end(): void {
    if (this.#terminal.isLive) this.#terminal.redraw('')
  }

  #line(hasBar: boolean): string {
    const seconds = (Date.now() - this.#began) / 1000
    const rate = seconds > 0 ? (this.#done - this.#first) / seconds : 0
    const left = rate > 0 ? Math.ceil((this.#total - this.#done) / rate) : undefined
    const part = this.#total === 0 ? 1 : this.#done / this.#total
    const full = Math.round(part * width)
    const bar = hasBar ? `[${'█'.repeat(full)}${'░'.repeat(width - full)}] ` : ''
    const count = `${this.#done.toLocaleString('en')} of ${this.#total.toLocaleString('en')} ${this.#label}`
    return `${bar}${count}, ${Math.round(rate).toLocaleString('en')}/s${left === undefined ? '' : `, ${timeLeft(left)} left`}`
  }
}

export function timeLeft(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
