// How a command ends: what went wrong, and the exit code that scripts see.

export const exitCodes = {
  /** A test failed, or `--exit-code` and there are changes. */
  different: 1,
  usage: 2,
  conflict: 3,
  refused: 4,
  unreachable: 5,
  interrupted: 130,
} as const

export class Failure extends Error {
  readonly exitCode: number
  readonly code: string
  readonly ctx: unknown
  /** Of the service's answer, if it was one. */
  readonly status: number | undefined

  constructor(exit: keyof typeof exitCodes, code: string, message: string, ctx: unknown = null, status?: number) {
    super(message)
    this.status = status
    this.exitCode = exitCodes[exit]
    this.code = code
    this.ctx = ctx
  }
}
