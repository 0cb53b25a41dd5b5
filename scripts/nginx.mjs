// The reverse proxy a test puts in front of the service: one that is installed, or one that is installed now. Uses nothing but
// Node itself.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { canInstall, installPackage } from './debian-package.mjs'

/** Not on everybody's PATH. */
const usualPlaces = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin']

/** @returns {string | undefined} where it is */
export function findNginx() {
  const { PATH = '' } = process.env
  return [...PATH.split(path.delimiter).filter(path.isAbsolute), ...usualPlaces]
    .map((folder) => path.join(folder, 'nginx'))
    .find((place) => existsSync(place))
}

/** @returns {string | undefined} what to tell whoever wanted it, when there is none in the end */
export function installNginx() {
  if (findNginx()) return undefined
  const said = canInstall() ? installPackage('nginx-light') : ''
  if (findNginx()) return undefined
  return `${said}\nThe tests need nginx. Install it, so that it is on the PATH or in ${usualPlaces.join(', ')}.`
}
