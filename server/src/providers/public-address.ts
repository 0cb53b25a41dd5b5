// Which addresses the service may call for its users (SSRF). A user's URL must not reach what only this machine or its
// network can reach, so a host is checked by the addresses it resolves to, at the moment of the connection.
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** IANA's special-purpose registries: loopback, private, link-local, shared (CGNAT), multicast, documentation, reserved. */
const reservedV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** Inside the one routed block. Teredo and 6to4 are among them: these tunnels lead to any IPv4 address. */
const reservedV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const routedV6 = ['2000::/3']
/** Prefixes of addresses that embed an IPv4 address: mapped ones and NAT64. */
const translatedV6 = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'])

const reserved = listOf(...reservedV4, ...reservedV6)
const routed = listOf(...routedV6)

export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !reserved.check(address, 'ipv4')
  if (family !== 6 || address.includes('%')) return false
  const embedded = embeddedV4(address)
  if (embedded !== undefined) return isPublicAddress(embedded)
  return routed.check(address, 'ipv6') && !reserved.check(address, 'ipv6')
}

/** Whether the address is this machine. */
export function isLoopback(address: string): boolean {
  if (isIP(address) === 4) return address.startsWith('127.')
  if (isIP(address) !== 6 || address.includes('%')) return false
  const embedded = embeddedV4(address)
  return embedded === undefined ? groupsOf(address).join(':') === '0:0:0:0:0:0:0:1' : isLoopback(embedded)
}

function embeddedV4(address: string): string | undefined {
  const groups = groupsOf(address)
  const prefix = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':')
  if (!translatedV6.has(prefix)) return undefined
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  // The URL parser normalises every spelling, with the last two groups in hex.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const numbers = (text: string | undefined) => (text ? text.split(':').map((group) => Number.parseInt(group, 16)) : [])
  const [start, end] = [numbers(head), numbers(tail)]
  return [...start, ...Array<number>(8 - start.length - end.length).fill(0), ...end]
}

function listOf(...subnets: string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [address = '', bits] = subnet.split('/')
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}

export class AddressRefused extends Error {}

/** Resolves a name for a connection; fails if any of its addresses is blocked. */
export function guardedLookup(
  isAllowed: (address: string) => boolean,
  lookup: LookupFunction = systemLookup,
): LookupFunction {
  return (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0)
      const addresses = Array.isArray(found) ? found : []
      const [first] = addresses
      // Check all of them: the connection may use any, and a name that mixes both is suspicious.
      if (!first || !addresses.every(({ address }) => isAllowed(address))) return callback(new AddressRefused(), '', 0)
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
}
