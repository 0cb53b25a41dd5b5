// Programs that the tests need and a machine may not have: where it is Debian's and ours to change, they are installed. Uses
// nothing but Node itself.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

export const canInstall = () => existsSync('/etc/debian_version') && process.getuid?.() === 0

/** Asked by every package that would start a server. https://people.debian.org/~hmh/invokerc.d-policyrc.d-specification.txt */
const policy = '/usr/sbin/policy-rc.d'

/** A server that comes with it is not to take a port of this machine by itself. @returns {string} what was said by the way */
export function installPackage(/** @type {string} */ name) {
  const hasPolicy = existsSync(policy)
  if (!hasPolicy) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const ways = [
      ['update', '-q'],
      ['install', '-y', '-q', '--no-install-recommends', name],
    ]
    return ways.map((args) => run('apt-get', args, env)).join('')
  } finally {
    if (!hasPolicy) rmSync(policy)
  }
}

/** @returns {string} all it said */
export function run(
  /** @type {string} */ program,
  /** @type {string[]} */ args,
  /** @type {NodeJS.ProcessEnv} */ env = process.env,
) {
  const { stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', env })
  return `${stdout ?? ''}${stderr ?? ''}${error ? `${error.message}\n` : ''}`
}
