// Finds the reverse proxy for a test, or installs it. Uses only Node itself.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { canInstall, installPackage } from './debian-package.mjs'

/** Often not on the PATH. */
const usualPlaces = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin']

/** @returns {string | undefined} its path */
export function findNginx() {
  const { PATH = '' } = process.env
  return [...PATH.split(path.delimiter).filter(path.isAbsolute), ...usualPlaces]
    .map((folder) => path.join(folder, 'nginx'))
    .find((place) => existsSync(place))
}

/** @returns {string | undefined} what to do, if it could not be installed */
export function installNginx() {
  if (findNginx()) return undefined
  const said = canInstall() ? installPackage('nginx-light') : ''
  if (findNginx()) return undefined
  return `${said}\nThe tests need nginx. Install it, so that it is on the PATH or in ${usualPlaces.join(', ')}.`
}
