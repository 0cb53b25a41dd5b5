// Cookies for pages of this service only: out of reach of scripts and of other sites, and by https of neighbouring hosts too.
// By the library that @fastify/cookie itself uses: two functions are enough, without its hooks on every request.
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'

export class Cookies {
  readonly #isPublicSecure: boolean

  constructor({ publicUrl }: { publicUrl: string }) {
    this.#isPublicSecure = publicUrl.startsWith('https:')
  }

  read(request: FastifyRequest, name: string): string | undefined {
    return parseCookie(request.headers.cookie ?? '')[this.#nameOf(request, name)]
  }

  set(request: FastifyRequest, reply: FastifyReply, name: string, value: string, seconds: number): void {
    const cookie = stringifySetCookie(this.#nameOf(request, name), value, {
      ...{ path: '/', maxAge: seconds, httpOnly: true, sameSite: 'lax' },
      secure: this.#isSecure(request),
    })
    // Added to those set before.
    reply.header('Set-Cookie', cookie)
  }

  clear(request: FastifyRequest, reply: FastifyReply, name: string): void {
    this.set(request, reply, name, '', 0)
  }

  /** Browsers take the prefix only from the host itself, by https, for all its paths. */
  #nameOf(request: FastifyRequest, name: string): string {
    return this.#isSecure(request) ? `__Host-${name}` : name
  }

  /** Browsers come by the public address, even where the proxy in front does not say so. */
  #isSecure(request: FastifyRequest): boolean {
    return this.#isPublicSecure || request.protocol === 'https'
  }
}
