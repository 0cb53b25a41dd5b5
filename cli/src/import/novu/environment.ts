// The one environment that is read. A database has those of all organizations, which must not be mixed.
import { Failure } from '../../failure.ts'
import type { Json } from '../members.ts'
import type { Report } from '../report.ts'

export class OneEnvironment {
  readonly #isChosen: boolean
  #id: string | undefined
  #isMet = false
  /** How many documents of others each file has. */
  readonly #others = new Map<string, number>()

  constructor(chosen: string | undefined) {
    this.#id = chosen
    this.#isChosen = chosen !== undefined
  }

  /** The chosen one, else that of the documents so far. */
  get id(): string | undefined {
    return this.#id
  }

  /** Before a file is read, perhaps once more. */
  begin(file: string): void {
    this.#others.delete(file)
  }

  /** Whether the document is of it, or of none. Refuses documents of another one unless somebody has chosen. */
  has({ _environmentId: id }: Json, file: string): boolean {
    if (typeof id !== 'string') return true
    this.#id ??= id
    if (this.#id === id) {
      this.#isMet = true
      return true
    }
    if (!this.#isChosen)
      throw new Failure(
        'usage',
        'several_environments',
        `The files have documents of several environments, ${this.#id} and ${id} (in ${file}). ` +
          'Choose one with --source-environment, or export one with the option --query of mongoexport',
      )
    this.#others.set(file, (this.#others.get(file) ?? 0) + 1)
    return false
  }

  /** Says what was left out. */
  end(report: Report): void {
    if (this.#others.size > 0 && !this.#isMet)
      throw new Failure('usage', 'no_environment', `No document is of the environment ${this.#id}`)
    for (const [file, count] of this.#others)
      report.changed({
        ...{ kind: 'file', id: file, path: '_environmentId', from: `${count} of other environments`, to: null },
        why: 'only the chosen environment is read',
      })
  }
}
