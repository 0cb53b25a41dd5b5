// What a command writes: one JSON value on stdout with `--json`, everything meant for people on stderr or, as the result, stdout.
import { styleText } from 'node:util'

type Style = 'red' | 'green' | 'yellow' | 'dim' | 'bold'

export interface TerminalOptions {
  json?: boolean | undefined
  quiet?: boolean | undefined
  color?: boolean | undefined
}

export class Terminal {
  readonly isJson: boolean
  readonly #isQuiet: boolean
  readonly #hasColor: boolean

  constructor({ json = false, quiet = false, color = true }: TerminalOptions, env: NodeJS.ProcessEnv) {
    this.isJson = json
    this.#isQuiet = quiet
    this.#hasColor = color && process.stdout.isTTY && !env.NO_COLOR && env.TERM !== 'dumb'
  }

  /** The result: as JSON, or in words. */
  result(value: unknown, words: () => string): void {
    const text = this.isJson ? JSON.stringify(value) : words()
    if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** A remark beside the result. */
  say(line: string): void {
    if (!this.#isQuiet) process.stderr.write(`${line}\n`)
  }

  /** What must be heard, even if quiet. */
  warn(line: string): void {
    process.stderr.write(`${line}\n`)
  }

  paint(style: Style, text: string): string {
    return this.#hasColor ? styleText(style, text) : text
  }
}
