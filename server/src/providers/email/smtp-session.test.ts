import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import SmtpConnection from 'nodemailer/lib/smtp-connection/index.js'
import { expect, test } from 'vitest'
import { insidesOf } from './smtp-session.ts'

test('nodemailer still has the members by which a session takes over its socket', () => {
  const socket = new Socket()
  const connection = new SmtpConnection({ connection: socket })
  connection.on('error', () => undefined)
  connection.connect(() => undefined)
  expect(insidesOf(connection)).toEqual({ socket, allowsAuth: false })
  connection.close()
  expect(() => insidesOf({} as SmtpConnection)).toThrow('take a session over in another way')
})

test('the version of nodemailer is pinned', () => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  expect(dependencies.nodemailer).toMatch(/^\d+\.\d+\.\d+$/)
})
