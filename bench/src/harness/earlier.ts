// The service as it was at an earlier commit, built once and kept, to be measured in turns with this one.
import { execFileSync, execSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { root } from './service.ts'

/** @returns its folder; undefined where it cannot be built, without the history or without the network */
export function builtAt(commit: string): string | undefined {
  const folder = path.join(root, 'node_modules/.cache', `belfry-${commit}`)
  if (existsSync(folder)) return folder
  const making = `${folder}.making`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { recursive: true })
  try {
    execSync(`git archive ${commit} | tar -x -C '${making}'`, { cwd: root, stdio: 'ignore' })
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: making, stdio: 'ignore' })
    execFileSync(process.execPath, ['scripts/setup.mjs', 'start'], { cwd: making, stdio: 'ignore' })
    renameSync(making, folder)
    return folder
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    process.stderr.write(`  ${commit} cannot be built, so nothing is compared with it: ${String(error)}\n`)
    return undefined
  }
}
