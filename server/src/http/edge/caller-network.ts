// The client's address and network, for limits per address.
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import proxyAddress from '@fastify/proxy-addr'

/** For requests that Fastify does not see, by the rule it uses for `request.ip`. */
export function callerAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trust = proxyAddress.compile([...trustedProxies])
  return (request) => proxyAddress(request, trust)
}

/** An IPv6 client usually has 2^64 addresses, so limits use the first half. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address
  const [head = '', tail = ''] = address.split('%', 1)[0]?.split('::') ?? []
  const [front, back] = [head, tail].map((half) => (half === '' ? [] : half.split(':'))) as [string[], string[]]
  const missing = Math.max(0, 8 - front.length - back.length)
  const groups = address.includes('::') ? [...front, ...Array<string>(missing).fill('0'), ...back] : front
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
