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

const wrongPlaces: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder, and has to be a file',
  ENOTDIR: 'a part of the path is a file, and has to be a folder',
  EEXIST: 'it is there already, and is of another kind',
  ENOTEMPTY: 'the folder is not empty',
  EACCES: 'you may not read or write it',
  EPERM: 'you may not read or write it',
  EROFS: 'the disk can only be read',
  ENOSPC: 'the disk is full',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
}

/** Undefined for other errors. The paths are those that the user gave, or lie below them. */
export function failureOfPlace(error: unknown): Failure | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '', path } = error as NodeJS.ErrnoException
  const why = wrongPlaces[code]
  // Reading a folder does not say which one.
  if (!why || (path === undefined && code !== 'EISDIR')) return undefined
  const message = path === undefined ? `A file cannot be read: ${why}` : `${path || '""'}: ${why}`
  return new Failure('usage', 'wrong_place', message)
}
