import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import { describe, expect, test } from 'vitest'
import { fullMail, plainMail } from '../../../test/provider-suite.ts'
import type { EmailMessage, Tools } from '../provider.ts'
import { composed, mailOf, quotedPrintable, simpleMail, type WholeMail } from './mime.ts'

const date = new Date('2026-05-01T10:00:00.000Z')
const error: Tools['error'] = () => {
  throw new Error('unexpected')
}
const byLibrary = (message: EmailMessage) => composed(mailOf(message, date), { error })

/** The mail as a mail client parses it. */
async function asRead({ content, from, recipients }: WholeMail) {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content
  const mail = await simpleParser(bytes, { skipTextToHtml: true, skipHtmlToText: true })
  const { subject, text, html, messageId, to, cc, replyTo } = mail
  const addresses = (field: typeof to) => [field ?? []].flat().flatMap(({ value }) => value)
  return {
    ...{ from, recipients, subject, messageId, date: mail.date },
    ...{ text: lines(text), html: lines(html || undefined) },
    sender: mail.from?.value,
    ...{ to: addresses(to), cc: addresses(cc), replyTo: addresses(replyTo) },
    headers: [...mail.headers].filter(([name]) => /^(?:x|list)-/.test(name)),
  }
}

/** Some composers end a text with a line break, and some do not. */
const lines = (text: string | undefined) => text?.replace(/\r\n|\r/g, '\n').replace(/\s+$/, '')

const words = fc.string({ unit: 'grapheme', maxLength: 200 })
const texts = fc.array(fc.oneof(words, fc.constant('.'), fc.constant('x'.repeat(80)), fc.constant('tail \t')), {
  minLength: 1,
  maxLength: 8,
})
const address = fc
  .tuple(fc.stringMatching(/^[a-z0-9]([\w+.-]{0,20}[a-z0-9])?$/), fc.stringMatching(/^[a-z0-9]{1,20}$/))
  .map(([local, domain]) => `${local.replace(/\.\.+/g, '.')}@${domain}.example`)
const oneLine = words.map((text) => text.replace(/\p{C}/gu, '').trim()).filter((text) => text !== '')

describe('a mail of text and HTML', () => {
  test('parses like the one nodemailer builds', async () => {
    let simple = 0
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          subject: oneLine,
          senderName: fc.option(oneLine, { nil: undefined }),
          ...{ from: address, to: fc.uniqueArray(address, { minLength: 1, maxLength: 5 }) },
          ...{ cc: fc.uniqueArray(address, { maxLength: 2 }), replyTo: fc.option(address, { nil: undefined }) },
          html: texts.map((all) => `<p>${all.join('\n')}</p>`),
          text: fc.option(
            texts.map((all) => `Hi${all.join('\r\n')}`),
            { nil: undefined },
          ),
          headers: fc.constantFrom(
            {},
            { 'X-Campaign': 'spring' },
            { 'List-Unsubscribe': '<https://acme.example/out>' },
          ),
        }),
        async (fields) => {
          const message = { ...plainMail, bcc: ['blind@example.com'], ...fields } as EmailMessage
          const ours = await simpleMail(message, date)
          if (!ours) return
          simple += 1
          const content = String(ours.content)
          for (const line of content.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
          expect(content).toMatch(/^[\t\r\n\x20-\x7e]*$/)
          expect(content).not.toMatch(/[^\r]\n|\r[^\n]/)
          expect(content).not.toContain('blind@example.com')
          expect(await asRead(ours)).toEqual(await asRead(await byLibrary(message)))
        },
      ),
      { numRuns: 200 },
    )
    expect(simple).toBeGreaterThan(100)
  })

  test('has the usual headers and parts', async () => {
    const message = { ...plainMail, senderName: 'Acme, "Inc."', subject: 'Grüße', text: 'Hi', html: '<p>Größe = 1</p>' }
    const content = String((await simpleMail(message, date))?.content)
    const boundary = /boundary="([^"]+)"/.exec(content)?.[1] ?? ''
    expect(content.replaceAll(boundary, 'B').split('\r\n')).toEqual([
      'From: "Acme, \\"Inc.\\"" <news@acme.example>',
      'To: ada@example.com',
      'Subject: =?UTF-8?B?R3LDvMOfZQ==?=',
      `Message-ID: <${plainMail.id}@acme.example>`,
      'Date: Fri, 01 May 2026 10:00:00 +0000',
      'MIME-Version: 1.0',
      'Content-Type: multipart/alternative;',
      ' boundary="B"',
      '',
      '--B',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hi',
      '--B',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '<p>Gr=C3=B6=C3=9Fe =3D 1</p>',
      '--B--',
      '',
    ])
  })

  test.each<[string, Partial<EmailMessage>]>([
    ['files', fullMail],
    ['options of a caller', { providerData: { priority: 'high' } }],
    ['a quoted address', { to: ['"ada b"@example.com'] }],
    ['an address that is not ASCII', { to: ['jürgen@example.com'] }],
    ['an address with a line break', { replyTo: 'x\r\nBcc: eve@example.com' }],
    ['blind copies only', { to: [], bcc: ['bcc@example.com'] }],
    ['a subject of several lines', { subject: 'x\r\nBcc: eve@example.com' }],
    ['a sender of several lines', { senderName: 'x\nBcc: eve@example.com' }],
    ['a header of several lines', { headers: { 'X-Campaign': 'x\r\nBcc: eve@example.com' } }],
    ['a header the mail sets itself', { headers: { Subject: 'Other' } }],
    ['an invalid header name', { headers: { 'X-A: b\r\nBcc': 'eve@example.com' } }],
  ])('is left to nodemailer if it has %s', async (_, fields) => {
    expect(await simpleMail({ ...plainMail, ...fields }, date)).toBeUndefined()
  })
})

test('quoted-printable: short lines of safe characters that decode to the original', () => {
  const decoded = (text: string) =>
    Buffer.from(
      text
        .replace(/=\r\n/g, '')
        .replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    ).toString('utf8')
  fc.assert(
    fc.property(texts, fc.constantFrom('\n', '\r\n'), (all, end) => {
      const text = all.join(end)
      const encoded = quotedPrintable(text)
      for (const line of encoded.split('\r\n')) {
        expect(line).toMatch(/^(?:[\t\x20-\x3c\x3e-\x7e]|=[\dA-F]{2})*=?$/)
        expect(line.length).toBeLessThanOrEqual(76)
        expect(line).not.toMatch(/[\t ]$/)
      }
      expect(decoded(encoded)).toBe(text.replace(/\r\n|\r|\n/g, '\r\n'))
    }),
    { numRuns: 500 },
  )
})
