// Other processes on this machine: whether they are alive, when they started and what they run.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export function isAlive(pid: number): boolean {
  return startOf(pid) !== undefined
}

/** The start time of the live process with this pid, in the system's format; undefined if there is none. */
export function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return ask(pid, 'lstart')
  const stat = readProc(pid, 'stat')
  // The name in parentheses may contain anything. After it come the state and, as the 20th field, the start time.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A zombie still has an entry.
  return fields?.[0] === 'Z' || fields?.[0] === 'X' ? undefined : fields?.[19]
}

/** Whether the process has this argument. */
export function hasArgument(pid: number, word: string): boolean {
  if (process.platform === 'linux') return readProc(pid, 'cmdline')?.split('\0').includes(word) ?? false
  return ` ${ask(pid, 'command') ?? ''} `.includes(` ${word} `)
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

function ask(pid: number, column: string): string | undefined {
  try {
    return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
  } catch {
    return undefined
  }
}
