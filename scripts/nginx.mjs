// The reverse proxy a test puts in front of the service: one that is installed, or one that is installed now. Uses nothing but
// Node itself. Where there is none, the test makes do with a proxy of its own.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const usualPlaces = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/local/bin/nginx', '/opt/homebrew/bin/nginx']

/** @returns {string | undefined} where it is */
export function findNginx() {
  return usualPlaces.find((place) => existsSync(place))
}

export function installNginx() {
  const isDebian = existsSync('/etc/debian_version') && process.getuid?.() === 0
  if (findNginx() || !isDebian) return
  // In runlevel 1 packages start nothing: it is not to take a port of this machine by itself.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const ways = [
    ['apt-get', 'update', '-q'],
    ['apt-get', 'install', '-y', '-q', '--no-install-recommends', 'nginx-light'],
  ]
  for (const [program = '', ...args] of ways) spawnSync(program, args, { encoding: 'utf8', env })
}
