// Cookies for pages of this service only: hidden from scripts and other sites and, over HTTPS, from sibling hosts.
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

  /** `value` may have letters, digits, `-`, `_` and `.` only. */
  set(request: FastifyRequest, reply: FastifyReply, name: string, value: string, seconds: number): void {
    const secure = this.#isSecure(request) ? '; Secure' : ''
    const cookie = `${this.#nameOf(request, name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
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
