import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { WholeMail } from './mime.ts'
import { SmtpPool } from './smtp-pool.ts'
import { type SmtpFailure, SmtpSession } from './smtp-session.ts'

/** A scripted server that records each chunk it receives. */
class Script {
  offers = ['PIPELINING']
  name = 'script'
  /** False for an old server without EHLO. */
  knowsEhlo = true
  greeting: (connection: number) => string = () => '220 here'
  /** The reply to a command or a mail; undefined for none. */
  answer: (said: string, connection: number) => string | undefined = usual
  /** Its reply to this, and all that follow, wait for `speakOn`. */
  isSlowWith: (said: string) => boolean = () => false
  readonly pieces: string[] = []
  readonly mails: string[] = []
  readonly sockets: Socket[] = []
  readonly #unsaid: Array<() => void> = []
  readonly #server = createServer((socket) => this.#talk(socket))

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get open(): number {
    return this.sockets.filter((socket) => !socket.destroyed).length
  }

  say(connection: number, text: string): void {
    this.sockets[connection]?.write(`${text}\r\n`, 'latin1')
  }

  get isSilent(): boolean {
    return this.#unsaid.length > 0
  }

  speakOn(): void {
    this.isSlowWith = () => false
    for (const say of this.#unsaid.splice(0)) say()
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #talk(socket: Socket): void {
    const connection = this.sockets.push(socket) - 1
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('error', () => undefined)
    this.say(connection, this.greeting(connection))
    let text = ''
    let isMail = false
    socket.on('data', (piece: string) => {
      this.pieces.push(piece)
      text += piece
      for (;;) {
        const mark = isMail ? '\r\n.\r\n' : '\r\n'
        const end = isMail && text.startsWith('.\r\n') ? -2 : text.indexOf(mark)
        if (end === -1) return
        const said = isMail ? text.slice(0, end + 2) : text.slice(0, end)
        text = text.slice(end + mark.length)
        const isMailOver = isMail
        if (isMail) this.mails.push(said)
        const reply =
          said.startsWith('EHLO') && this.knowsEhlo ? this.#hello() : this.answer(isMail ? 'mail' : said, connection)
        isMail = !isMail && said === 'DATA' && reply?.startsWith('354') === true
        if (reply !== undefined) {
          const say = () => this.say(connection, reply)
          if (this.isSilent || this.isSlowWith(isMailOver ? 'mail' : said)) this.#unsaid.push(say)
          else say()
        }
        if (said === 'QUIT') socket.end()
      }
    })
  }

  #hello(): string {
    const lines = [this.name, ...this.offers]
    return lines.map((line, place) => `250${place === lines.length - 1 ? ' ' : '-'}${line}`).join('\r\n')
  }
}

const usual = (said: string) => (said === 'DATA' ? '354 go on' : said === 'QUIT' ? '221 bye' : '250 fine')

let script: Script
const pools: SmtpPool[] = []
beforeEach(async () => {
  script = new Script()
  await script.listen()
})
afterEach(async () => {
  for (const pool of pools.splice(0)) pool.close()
  await script.close()
})

const auth = { user: 'ada', pass: 'correct horse' }

function poolOf({ sessions = 1, mostMails = 100, idleMs = 60_000, greetingTimeout = 60_000 } = {}): SmtpPool {
  const { port } = script
  const open = () =>
    SmtpSession.open({
      ...{ host: '127.0.0.1', port, name: 'belfry.example', ignoreTLS: true, greetingTimeout, auth },
      connect: async () => {
        const socket = connect({ host: '127.0.0.1', port, noDelay: true })
        await once(socket, 'connect')
        return socket
      },
    })
  const pool = new SmtpPool({ open, mostSessions: sessions, mostMails, idleMs })
  pools.push(pool)
  return pool
}

const longMs = 60_000
const textOf = (number: number) => `Subject: ${number}\r\n\r\nHello\r\n`
const mailOf = (number: number, more: Partial<WholeMail> = {}): WholeMail => ({
  messageId: `<${number}@acme.example>`,
  from: 'news@acme.example',
  recipients: [`reader-${number}@example.com`],
  content: textOf(number),
  ...more,
})
const commandsOf = (number: number) =>
  `MAIL FROM:<news@acme.example>\r\nRCPT TO:<reader-${number}@example.com>\r\nDATA\r\n`

const failureOf = (work: Promise<unknown>): Promise<SmtpFailure | undefined> =>
  work.then(
    () => undefined,
    (reason: unknown) => reason as SmtpFailure,
  )

describe('on the wire', () => {
  test("a mail's commands go in one packet", async () => {
    await poolOf().send(mailOf(1), longMs)
    expect(script.pieces).toEqual(['EHLO belfry.example\r\n', commandsOf(1), `${textOf(1)}.\r\n`])
  })

  test("the next mail's commands follow the text of the one before in its packet; those of a third wait for an answer", async () => {
    script.isSlowWith = (said) => said === 'mail'
    const pool = poolOf()
    const sending = Promise.all([1, 2, 3].map((number) => pool.send(mailOf(number), longMs)))
    const packets = () => script.pieces.slice(1)
    const first = [commandsOf(1), `${textOf(1)}.\r\n${commandsOf(2)}`]
    await expect.poll(packets).toEqual(first)
    script.speakOn()
    await sending
    expect(packets()).toEqual([...first, `${textOf(2)}.\r\n${commandsOf(3)}`, `${textOf(3)}.\r\n`])
    expect(script.mails).toEqual([1, 2, 3].map(textOf))
  })

  test('commands go one by one without PIPELINING', async () => {
    script.offers = ['8BITMIME']
    const pool = poolOf()
    await Promise.all([pool.send(mailOf(1), longMs), pool.send(mailOf(2), longMs)])
    const [one, two] = [1, 2].map((number) => `${textOf(number)}.\r\n`)
    const lines = (number: number) => commandsOf(number).split(/(?<=\r\n)/)
    expect(script.pieces.slice(1)).toEqual([...lines(1), one, ...lines(2), two])
  })

  test('lines that start with a dot arrive unchanged', async () => {
    const content = '.first\r\n\r\n.\r\n..two\r\nend.\r\n'
    await poolOf().send(mailOf(1, { content }), longMs)
    expect(script.mails).toEqual(['..first\r\n\r\n..\r\n...two\r\nend.\r\n'])
  })

  test('SIZE and SMTPUTF8 are sent if the server offers them', async () => {
    const content = `Subject: x\r\n\r\nGr\xc3\xbc\xc3\x9fe\r\n`
    const recipients = ['jürgen@example.com']
    await poolOf().send(mailOf(1, { recipients, content }), longMs)
    const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1')
    expect(script.pieces[1]).toBe(bytes('MAIL FROM:<news@acme.example>\r\nRCPT TO:<jürgen@example.com>\r\nDATA\r\n'))
    script.offers = ['PIPELINING', 'SIZE 1000000', 'SMTPUTF8']
    script.pieces.length = 0
    await poolOf().send(mailOf(1, { recipients, content }), longMs)
    expect(script.pieces[1]).toMatch(`MAIL FROM:<news@acme.example> SIZE=${content.length} SMTPUTF8\r\n`)
    expect(script.mails[1]).toBe(content)
  })
})

describe('the server refuses', () => {
  test('all recipients: the next mail still goes out', async () => {
    script.answer = (said) => {
      if (said.startsWith('RCPT') && said.includes('reader-1')) return '550 5.1.1 no such user'
      if (said === 'DATA' && script.pieces.at(-1)?.includes('reader-1')) return '554 no valid recipients'
      return usual(said)
    }
    const pool = poolOf()
    const [first, second] = await Promise.all([1, 2].map((number) => failureOf(pool.send(mailOf(number), longMs))))
    expect(first).toMatchObject({ code: 'EENVELOPE', command: 'RCPT TO', responseCode: 550 })
    expect(first?.message).toBe('550 5.1.1 no such user')
    expect(second).toBeUndefined()
    expect(script.pieces).toContain('RSET\r\n')
    expect(script.mails).toEqual([textOf(2)])
    expect(script.sockets).toHaveLength(1)
  })

  test('all recipients, but waits for the text: the next mail still goes out', async () => {
    script.answer = (said) => (said.startsWith('RCPT') && said.includes('reader-1') ? '550 no' : usual(said))
    const pool = poolOf()
    expect(await failureOf(pool.send(mailOf(1), longMs))).toMatchObject({ command: 'RCPT TO', responseCode: 550 })
    await pool.send(mailOf(2), longMs)
    // A lone dot: an empty text, nothing of the first mail.
    expect(script.mails).toEqual(['', textOf(2)])
  })

  test.each([
    ['its sender', (said: string) => said.startsWith('MAIL'), { code: 'EENVELOPE', command: 'MAIL FROM' }],
    ['to begin', (said: string) => said === 'DATA', { code: 'EENVELOPE', command: 'DATA' }],
    ['its text', (said: string) => said === 'mail', { code: 'EMESSAGE', command: 'DATA' }],
  ])('%s, with and without pipelining', async (_, isRefused, expected) => {
    for (const offers of [['PIPELINING'], ['8BITMIME']]) {
      script.offers = offers
      script.answer = (said) => (isRefused(said) ? '554-first line\r\n554 sp\xc3\xa4m' : usual(said))
      const pool = poolOf()
      const failure = await failureOf(pool.send(mailOf(1), longMs))
      expect(failure).toMatchObject({ ...expected, responseCode: 554, mayHaveArrived: false })
      expect(failure?.message).toBe('554-first line\r\n554 späm')
      script.answer = usual
      await pool.send(mailOf(2), longMs)
    }
    expect(script.mails.filter((mail) => mail === textOf(2))).toHaveLength(2)
  })

  test('one of several recipients: the others get the mail', async () => {
    const recipients = ['gone@example.com', 'ada@example.com']
    for (const offers of [['PIPELINING'], ['8BITMIME']]) {
      script.offers = offers
      script.answer = (said) => (said.includes('gone@') ? '550 no such user' : usual(said))
      await poolOf().send(mailOf(1, { recipients }), longMs)
    }
    expect(script.mails).toHaveLength(2)
  })

  test('one connection too many: the others send everything', async () => {
    script.greeting = (connection) => (connection < 2 ? '220 here' : '421 too many connections')
    const pool = poolOf({ sessions: 10 })
    await Promise.all(Array.from({ length: 50 }, (_, number) => pool.send(mailOf(number), longMs)))
    expect(new Set(script.mails).size).toBe(50)
    const asked = script.sockets.length
    await Promise.all(Array.from({ length: 50 }, (_, number) => pool.send(mailOf(number), longMs)))
    // The pool does not ask for more right away.
    expect(script.sockets).toHaveLength(asked)
  })

  test('every connection: every mail in the queue fails', async () => {
    script.greeting = () => '421 out of order'
    const pool = poolOf({ sessions: 2 })
    const failures = await Promise.all([1, 2, 3, 4].map((number) => failureOf(pool.send(mailOf(number), longMs))))
    for (const failure of failures) expect(failure).toMatchObject({ responseCode: 421 })
  })
})

describe('a connection that ends', () => {
  test("before a mail's text is sent: another connection sends it", async () => {
    const pool = poolOf()
    await pool.send(mailOf(1), longMs)
    script.answer = (said, connection) => {
      if (connection > 0) return usual(said)
      script.sockets[0]?.destroy()
      return undefined
    }
    await pool.send(mailOf(2), longMs)
    expect(script.mails).toEqual([textOf(1), textOf(2)])
    expect(script.sockets).toHaveLength(2)
  })

  test('while idle: the next mail opens another', async () => {
    const pool = poolOf()
    await pool.send(mailOf(1), longMs)
    script.sockets[0]?.end()
    await expect.poll(() => script.open).toBe(0)
    await pool.send(mailOf(2), longMs)
    expect(script.mails).toHaveLength(2)
    expect(script.sockets).toHaveLength(2)
  })

  test('with a 421 between mails: the next mail opens another', async () => {
    const pool = poolOf()
    await pool.send(mailOf(1), longMs)
    script.answer = (said, connection) => (connection > 0 ? usual(said) : '421 enough for today')
    await pool.send(mailOf(2), longMs)
    expect(script.mails).toEqual([textOf(1), textOf(2)])
    await expect.poll(() => script.open).toBe(1)
  })

  test('with a 421 among the commands: the error quotes the server', async () => {
    script.answer = (_, connection) => {
      script.sockets[connection]?.end('421 4.7.0 too many messages\r\n')
      return undefined
    }
    const failure = await failureOf(poolOf().send(mailOf(1), longMs))
    expect(failure).toMatchObject({ responseCode: 421, mayHaveArrived: false })
    expect(failure?.message).toBe('421 4.7.0 too many messages')
  })

  test.each([
    ['421 4.7.0 slow down', 421],
    ['554 5.7.1 spam\r\n421 and so good-bye', 554],
  ])('with a reply to a mail (%s): the mail is refused, and not sent again', async (word, code) => {
    for (const earlier of [0, 1]) {
      const pool = poolOf()
      script.answer = usual
      for (let number = 0; number < earlier; number += 1) await pool.send(mailOf(number), longMs)
      const before = script.mails.length
      script.answer = (said) => (said === 'mail' ? word : usual(said))
      const failure = await failureOf(pool.send(mailOf(1), longMs))
      expect(failure).toMatchObject({ responseCode: code, mayHaveArrived: false })
      expect(script.mails).toHaveLength(before + 1)
    }
  })

  test('midway through a large mail: it cannot have arrived, and the error quotes the server', async () => {
    const content = Buffer.from(`${'x'.repeat(70)}\r\n`.repeat(400_000))
    for (const [word, expected] of [
      ['', { code: 'ECONNECTION', mayHaveArrived: false }],
      ['552 too large\r\n', { code: 'EMESSAGE', responseCode: 552, mayHaveArrived: false }],
    ] as const) {
      script.answer = (said, connection) => {
        if (said === 'DATA') script.sockets[connection]?.once('data', () => script.sockets[connection]?.end(word))
        return usual(said)
      }
      expect(await failureOf(poolOf().send(mailOf(1, { content }), longMs))).toMatchObject(expected)
    }
  })

  test('during the greeting, when the server sends without end', async () => {
    script.greeting = () => '220-welcome'
    const dripping = setInterval(() => script.say(0, '220-and welcome'), 5)
    try {
      const failure = await failureOf(poolOf({ greetingTimeout: 100 }).send(mailOf(1), longMs))
      expect(failure?.mayHaveArrived).toBe(false)
    } finally {
      clearInterval(dripping)
    }
  })

  test('right after accepting a mail: that one is sent, and the next takes another connection', async () => {
    script.answer = (said, connection) => {
      if (said !== 'mail' || connection > 0) return usual(said)
      script.sockets[0]?.end('250 taken\r\n421 enough for today\r\n')
      return undefined
    }
    const pool = poolOf()
    await Promise.all([1, 2].map((number) => pool.send(mailOf(number), longMs)))
    expect(script.mails).toEqual([textOf(1), textOf(2)])
  })

  test.each([
    ['while nobody has asked', ''],
    ['behind an answer', 'RCPT'],
  ])('when the server speaks %s: later replies cannot be trusted', async (_, behind) => {
    const pool = poolOf()
    await pool.send(mailOf(1), longMs)
    script.answer = (said, connection) => {
      const isStray = connection === 0 && behind !== '' && said.startsWith(behind)
      return isStray ? '250 fine\r\n250 by the way' : usual(said)
    }
    if (behind === '') {
      script.say(0, '250 by the way')
      await expect.poll(() => script.open).toBe(0)
    }
    const failures = await Promise.all([2, 3].map((number) => failureOf(pool.send(mailOf(number), longMs))))
    // The mail begun after that reply has an unknown outcome; the others are sent once.
    for (const failure of failures.filter((each) => each)) expect(failure).toMatchObject({ mayHaveArrived: true })
    expect(script.mails.filter((mail) => mail === textOf(3))).toHaveLength(1)
    expect(script.sockets.length).toBeGreaterThan(1)
  })

  test('but not because of an empty line', async () => {
    script.answer = (said) => `${usual(said)}\r\n`
    const pool = poolOf()
    await Promise.all([1, 2].map((number) => pool.send(mailOf(number), longMs)))
    expect(script.mails).toHaveLength(2)
    expect(script.sockets).toHaveLength(1)
  })

  test("after a mail's text: the mail may have arrived, and the next takes another connection", async () => {
    script.answer = (said, connection) => {
      if (said !== 'mail' || connection > 0) return usual(said)
      script.sockets[0]?.destroy()
      return undefined
    }
    const pool = poolOf()
    const [first, second] = await Promise.all([1, 2].map((number) => failureOf(pool.send(mailOf(number), longMs))))
    expect(first).toMatchObject({ code: 'ECONNECTION', mayHaveArrived: true })
    expect(second).toBeUndefined()
    expect(script.mails).toEqual([textOf(1), textOf(2)])
  })

  test("during its first mail's commands: the mail cannot have arrived", async () => {
    script.answer = (_, connection) => {
      script.sockets[connection]?.destroy()
      return undefined
    }
    expect(await failureOf(poolOf().send(mailOf(1), longMs))).toMatchObject({
      code: 'ECONNECTION',
      mayHaveArrived: false,
    })
    expect(script.sockets).toHaveLength(1)
  })

  test('after the limit of mails per connection', async () => {
    const pool = poolOf({ mostMails: 2 })
    await Promise.all([1, 2, 3, 4, 5].map((number) => pool.send(mailOf(number), longMs)))
    expect(script.sockets).toHaveLength(3)
    expect(script.pieces.filter((piece) => piece.includes('QUIT'))).toHaveLength(2)
  })

  test('by the pool, after too long without work or when it closes', async () => {
    await poolOf({ idleMs: 1 }).send(mailOf(1), longMs)
    await expect.poll(() => script.open).toBe(0)
    const pool = poolOf()
    await pool.send(mailOf(2), longMs)
    expect(script.open).toBe(1)
    pool.close()
    await expect.poll(() => script.open).toBe(0)
    expect(script.pieces.filter((piece) => piece.includes('QUIT'))).toHaveLength(2)
  })

  test('when a reply never ends', async () => {
    script.answer = () => Array.from({ length: 6_000 }, () => '250-and so on').join('\r\n')
    expect(await failureOf(poolOf().send(mailOf(1), longMs))).toMatchObject({ code: 'ECONNECTION' })
  })
})

test('after an outage the pool is soon back to its connections', async () => {
  script.greeting = () => '421 out of order'
  const pool = poolOf({ sessions: 5 })
  const all = () => Promise.all(Array.from({ length: 20 }, (_, number) => failureOf(pool.send(mailOf(number), longMs))))
  for (const failure of await all()) expect(failure).toMatchObject({ responseCode: 421, mayHaveArrived: false })
  // One connection is enough to see that the server is up.
  expect(script.sockets).toHaveLength(1)
  script.greeting = () => '220 here'
  for (const failure of await all()) expect(failure).toBeUndefined()
  expect(script.sockets).toHaveLength(1 + 5)
})

test('after an outage in the middle of work, too', async () => {
  const pool = poolOf({ sessions: 5 })
  const all = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, number) => failureOf(pool.send(mailOf(number), longMs))))
  await all(20)
  expect(script.sockets).toHaveLength(5)
  script.greeting = () => '421 out of order'
  script.answer = (said, connection) => {
    if (!said.startsWith('MAIL')) return usual(said)
    script.sockets[connection]?.destroy()
    return undefined
  }
  for (const failure of await all(100)) expect(failure).toBeDefined()
  script.greeting = () => '220 here'
  script.answer = usual
  const before = script.sockets.length
  for (const failure of await all(20)) expect(failure).toBeUndefined()
  expect(script.sockets).toHaveLength(before + 5)
})

test('a large mail arrives unchanged, line by line', async () => {
  const lines = Array.from({ length: 20_000 }, (_, number) =>
    number % 3 === 0 ? `.${number}` : `${number} `.repeat(9),
  )
  const text = `Subject: x\r\n\r\n${lines.join('\r\n')}\r\n`
  const pool = poolOf()
  await Promise.all([pool.send(mailOf(1, { content: Buffer.from(text) }), longMs), pool.send(mailOf(2), longMs)])
  expect(script.mails[0]?.replaceAll('\r\n..', '\r\n.')).toBe(text)
  expect(script.mails[1]).toBe(textOf(2))
})

test('a mail that times out behind another one is not sent', async () => {
  let take: () => void = () => undefined
  script.answer = (said) => {
    if (said !== 'mail' || script.mails.length > 1) return usual(said)
    take = () => script.say(0, '250 taken')
    return undefined
  }
  const pool = poolOf()
  const first = failureOf(pool.send(mailOf(1), longMs))
  const second = failureOf(pool.send(mailOf(2), 50))
  expect(await second).toMatchObject({ code: 'ETIMEDOUT', mayHaveArrived: false })
  await expect.poll(() => script.mails).toHaveLength(1)
  take()
  expect(await first).toBeUndefined()
  await pool.send(mailOf(3), longMs)
  expect(script.mails).toEqual([textOf(1), textOf(3)])
})

test('the name of a server is not mistaken for an extension', async () => {
  script.name = '[127.0.0.1] at your service'
  await poolOf().send(mailOf(1), longMs)
  expect(script.pieces[1]).toBe(commandsOf(1))
})

test('a session with a password signs in if the server offers AUTH, or is too old to list its extensions', async () => {
  const proof = `AUTH PLAIN ${Buffer.from(`\0${auth.user}\0${auth.pass}`).toString('base64')}\r\n`
  const signsIn = (said: string) => (said.startsWith('AUTH') ? '235 welcome' : usual(said))
  script.name = '[127.0.0.1] at your service'
  script.offers = ['AUTH PLAIN', 'PIPELINING']
  script.answer = signsIn
  await poolOf().send(mailOf(1), longMs)
  expect(script.pieces.slice(1, 3)).toEqual([proof, commandsOf(1)])
  script.pieces.length = 0
  script.knowsEhlo = false
  script.answer = (said) => (said.startsWith('EHLO') ? '502 what?' : signsIn(said))
  await poolOf().send(mailOf(2), longMs)
  expect(script.pieces.slice(1, 3)).toEqual(['HELO belfry.example\r\n', proof])
  script.answer = (said) => (said.startsWith('EHLO') ? '502 what?' : said.startsWith('AUTH') ? '535 no' : usual(said))
  expect(await failureOf(poolOf().send(mailOf(3), longMs))).toMatchObject({ code: 'EAUTH', mayHaveArrived: false })
})

test('a mail that times out behind another cannot have arrived; one whose text is not answered may have', async () => {
  const pool = poolOf()
  await pool.send(mailOf(0), longMs)
  script.isSlowWith = (said) => said === 'mail'
  const first = failureOf(pool.send(mailOf(1), 2_000))
  await expect.poll(() => script.mails).toHaveLength(2)
  const second = failureOf(pool.send(mailOf(2), 10))
  expect(await second).toMatchObject({ code: 'ETIMEDOUT', mayHaveArrived: false })
  expect(await first).toMatchObject({ code: 'ETIMEDOUT', mayHaveArrived: true })
  script.speakOn()
  await pool.send(mailOf(3), longMs)
  expect(script.mails).toEqual([0, 1, 3].map(textOf))
})

class ShortTurn {
  isOver = false
  readonly #ends: Array<() => void> = []

  whenOver(end: () => void): () => void {
    this.#ends.push(end)
    return () => undefined
  }

  end(): void {
    this.isOver = true
    for (const end of this.#ends.splice(0)) end()
  }
}

describe('whether a mail may be sent', () => {
  const asked: number[] = []
  /** The last of each mail. */
  const turns = new Map<number, ShortTurn>()
  let isShort = true
  beforeEach(() => {
    asked.length = 0
    isShort = true
  })
  /** Mails that can only begin as soon as they have asked, if their turns are short. */
  const send = (pool: SmtpPool, ...numbers: number[]) =>
    Promise.all(
      numbers.map((number) =>
        failureOf(
          pool.send(mailOf(number), longMs, (start) => {
            asked.push(number)
            const turn = new ShortTurn()
            const sending = start(turn)
            if (isShort) turn.end()
            turns.set(number, turn)
            return sending
          }),
        ),
      ),
    )
  test('is asked when its first command can be written, and not before', async () => {
    script.isSlowWith = (said) => said === 'DATA'
    const sending = send(poolOf(), 1, 2, 3)
    await expect.poll(() => script.isSilent).toBe(true)
    // The others have asked early, in vain.
    expect(asked).toEqual([1, 2, 3])
    expect(script.pieces.join('')).not.toContain('reader-2')
    script.speakOn()
    expect(await sending).toEqual([undefined, undefined, undefined])
    expect(asked).toEqual([1, 2, 3, 2, 3])
  })

  test('is asked behind a text that is written and not answered, of one mail', async () => {
    script.isSlowWith = (said) => said === 'mail'
    const sending = send(poolOf(), 1, 2, 3)
    await expect.poll(() => script.pieces.join('')).toContain(commandsOf(2))
    expect(asked).toEqual([1, 2, 3, 2])
    script.speakOn()
    expect(await sending).toEqual([undefined, undefined, undefined])
    expect(asked).toEqual([1, 2, 3, 2, 3])
  })

  test('is asked without pipelining when the mail before is answered', async () => {
    script.offers = ['8BITMIME']
    script.isSlowWith = (said) => said === 'mail'
    const sending = send(poolOf(), 1, 2)
    await expect.poll(() => script.isSilent).toBe(true)
    expect(asked).toEqual([1, 2])
    expect(script.pieces.join('')).not.toContain('reader-2')
    script.speakOn()
    expect(await sending).toEqual([undefined, undefined])
    expect(asked).toEqual([1, 2, 2])
  })

  test('is asked once where a connection becomes free in its turn, and again where its turn was over before', async () => {
    isShort = false
    script.isSlowWith = (said) => said === 'mail'
    const sending = send(poolOf(), 1, 2, 3, 4)
    await expect.poll(() => script.pieces.join('')).toContain(commandsOf(2))
    // Two may ask early; the fourth takes the place of the second.
    await expect.poll(() => asked).toEqual([1, 2, 3, 4])
    turns.get(3)?.end()
    script.speakOn()
    expect(await sending).toEqual([undefined, undefined, undefined, undefined])
    expect(asked).toEqual([1, 2, 3, 4, 3])
    expect(script.mails).toEqual([1, 2, 4, 3].map(textOf))
  })

  test('is asked again when its connection ends before its text is sent', async () => {
    const pool = poolOf()
    await send(pool, 1)
    script.answer = (said, connection) => {
      if (connection > 0) return usual(said)
      script.sockets[0]?.destroy()
      return undefined
    }
    expect(await send(pool, 2)).toEqual([undefined])
    expect(asked).toEqual([1, 2, 2])
  })

  test('is asked again when the connection ends with the answer to the mail before', async () => {
    script.answer = (said, connection) => {
      if (said !== 'mail' || connection > 0) return usual(said)
      script.sockets[0]?.end('250 taken\r\n421 enough for today\r\n')
      return undefined
    }
    expect(await send(poolOf(), 1, 2)).toEqual([undefined, undefined])
    expect(script.mails).toEqual([textOf(1), textOf(2)])
    expect(asked.slice(0, 1)).toEqual([1])
    expect(asked.slice(-1)).toEqual([2])
  })

  test('is asked again when the server refuses another connection beside the first', async () => {
    script.greeting = (connection) => (connection === 0 ? '220 here' : '421 too many connections')
    script.isSlowWith = (said) => said === 'DATA'
    const sending = send(poolOf({ sessions: 2 }), 1, 2)
    await expect.poll(() => script.sockets.length).toBe(2)
    await expect.poll(() => script.open).toBe(1)
    expect(asked).toEqual([1, 2])
    script.speakOn()
    expect(await sending).toEqual([undefined, undefined])
    expect(asked).toEqual([1, 2, 2])
  })

  test('and is not: the next takes its place, and no connection was opened for it', async () => {
    const pool = poolOf()
    const first = failureOf(pool.send(mailOf(1), longMs, () => Promise.reject(new Error('refused'))))
    expect(await send(pool, 2)).toEqual([undefined])
    expect(await first).toMatchObject({ message: 'refused' })
    expect(script.mails).toEqual([textOf(2)])
    expect(script.sockets).toHaveLength(1)
  })

  test('while that is decided, another waits for a place no longer than the timeout', async () => {
    const pool = poolOf()
    let decide: () => void = () => undefined
    const first = pool.send(mailOf(1), longMs, async (start) => {
      await new Promise<void>((resolve) => {
        decide = resolve
      })
      return start(new ShortTurn())
    })
    expect(await failureOf(pool.send(mailOf(2), 1))).toMatchObject({ code: 'ETIMEDOUT', mayHaveArrived: false })
    decide()
    expect(await first).toEqual([])
    expect(script.mails).toEqual([textOf(1)])
  })
})
