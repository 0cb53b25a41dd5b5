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
  /** Whether somebody watches, so that a line can be drawn over and over. */
  readonly isLive: boolean
  readonly #isQuiet: boolean
  readonly #hasColor: Record<'stdout' | 'stderr', boolean>

  constructor({ json = false, quiet = false, color = true }: TerminalOptions, env: NodeJS.ProcessEnv) {
    this.isJson = json
    this.#isQuiet = quiet
    this.isLive = !quiet && process.stderr.isTTY && env.TERM !== 'dumb'
    const mayColor = color && !env.NO_COLOR && env.TERM !== 'dumb'
    this.#hasColor = { stdout: mayColor && process.stdout.isTTY, stderr: mayColor && process.stderr.isTTY }
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

  /** Replaces the line that was drawn before. */
  redraw(line: string): void {
    if (this.isLive) process.stderr.write(`\r\u001b[2K${line}`)
  }

  /** @param to where it will be written: a file that stderr leads to gets no colors */
  paint(style: Style, text: string, to: 'stdout' | 'stderr' = 'stdout'): string {
    // It would look at stdout itself.
    return this.#hasColor[to] ? styleText(style, text, { validateStream: false }) : text
  }
}
