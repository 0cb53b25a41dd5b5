// The client's address and network, for limits per address and for keys that are allowed from some addresses only.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
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

/** Whether it is an address such as 192.0.2.1, or a network such as 192.0.2.0/24. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
}

/** Of texts that are networks. */
export function networksOf(texts: string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const [address = '', prefix] = text.split('/')
    const isSix = isIPv6(address)
    list.addSubnet(address, Number(prefix ?? (isSix ? 128 : 32)), isSix ? 'ipv6' : 'ipv4')
  }
  return list
}

export const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
