// Installs programs that the tests need, on Debian and as root. Uses only Node itself.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

export const canInstall = () => existsSync('/etc/debian_version') && process.getuid?.() === 0

/**
 * Debian packages ask this script before they start a server.
 * https://people.debian.org/~hmh/invokerc.d-policyrc.d-specification.txt
 */
const policy = '/usr/sbin/policy-rc.d'

/** Installs without starting the package's server, which could take a port. @returns {string} the output */
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

/** @returns {string} the output */
export function run(
  /** @type {string} */ program,
  /** @type {string[]} */ args,
  /** @type {NodeJS.ProcessEnv} */ env = process.env,
) {
  const { stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', env })
  return `${stdout ?? ''}${stderr ?? ''}${error ? `${error.message}\n` : ''}`
}
