// Cookies for pages of this service only: hidden from scripts and other sites and, over HTTPS, from sibling hosts. We use the
// two functions of @fastify/cookie's own library, without its hooks on every request.
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
    // Fastify appends this to earlier Set-Cookie headers.
    reply.header('Set-Cookie', cookie)
  }

  clear(request: FastifyRequest, reply: FastifyReply, name: string): void {
    this.set(request, reply, name, '', 0)
  }

  /** Browsers accept the `__Host-` prefix only from the host itself, over HTTPS, for all its paths. */
  #nameOf(request: FastifyRequest, name: string): string {
    return this.#isSecure(request) ? `__Host-${name}` : name
  }

  /** Browsers use the public address, even when the proxy in front does not say so. */
  #isSecure(request: FastifyRequest): boolean {
    return this.#isPublicSecure || request.protocol === 'https'
  }
}
