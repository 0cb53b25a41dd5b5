// Cookies for pages of this service only: out of reach of scripts and of other sites, and by https of neighbouring hosts too.
import type { FastifyReply, FastifyRequest } from 'fastify'

export class Cookies {
  readonly #isPublicSecure: boolean

  constructor({ publicUrl }: { publicUrl: string }) {
    this.#isPublicSecure = publicUrl.startsWith('https:')
  }

  read(request: FastifyRequest, name: string): string | undefined {
    const wanted = `${this.#nameOf(request, name)}=`
    for (const part of request.headers.cookie?.split(';') ?? []) {
      const pair = part.trimStart()
      if (pair.startsWith(wanted)) return pair.slice(wanted.length)
    }
    return undefined
  }

  /** `value` is made of letters, digits, `-`, `_` and `.`. */
  set(request: FastifyRequest, reply: FastifyReply, name: string, value: string, seconds: number): void {
    const secure = this.#isSecure(request) ? '; Secure' : ''
    const cookie = `${this.#nameOf(request, name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
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
