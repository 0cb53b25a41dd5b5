import type { LookupAddress } from 'node:dns'
import { describe, expect, test } from 'vitest'
import { AddressRefused, guardedLookup, isPublicAddress } from './public-address.ts'

describe('an address that only this machine or its network can reach is not public', () => {
  test.each([
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    ['this network', ['0.0.0.0', '0.1.2.3', '::']],
    ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1']],
    ['link-local, where clouds keep their metadata', ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'fd00:ec2::254']],
    ['shared by a provider (CGNAT)', ['100.64.0.1', '100.127.255.255']],
    ['multicast and broadcast', ['224.0.0.1', '239.1.1.1', '255.255.255.255', 'ff02::1']],
    ['reserved', ['192.0.0.170', '198.18.0.1', '240.0.0.1', '100::1', '2001:2::1', '5f00::1']],
    ['for documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1']],
    ['an IPv4 address in disguise', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a00:1', '::127.0.0.1']],
    [
      'an IPv4 address behind a translator',
      ['64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '2001:0:7f00:1::'],
    ],
    ['no address at all', ['', 'localhost', '127.1', '2130706433', '1.2.3.4.5']],
  ])('%s', (_, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([])
  })

  test('any other is public', () => {
    const addresses = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::200e']
    const translated = ['::ffff:8.8.8.8', '::ffff:808:808', '64:ff9b::808:808']
    expect([...addresses, ...translated].filter((address) => !isPublicAddress(address))).toEqual([])
  })
})

describe('a name is resolved for a connection', () => {
  const resolving = (...found: LookupAddress[]) =>
    guardedLookup(isPublicAddress, (_host, _options, callback) => callback(null, found))
  const resolve = (lookup: ReturnType<typeof guardedLookup>, all: boolean) =>
    new Promise((answer) => lookup('name', { all }, (error, ...rest) => answer(error ?? rest)))
  const good = { address: '8.8.8.8', family: 4 }
  const other = { address: '2606:4700::1111', family: 6 }

  test('to its public addresses, all of them or the first', async () => {
    expect(await resolve(resolving(good, other), true)).toEqual([[good, other]])
    expect(await resolve(resolving(good, other), false)).toEqual(['8.8.8.8', 4])
  })

  test('unless one of them is not public, or there is none', async () => {
    expect(await resolve(resolving(good, { address: '127.0.0.1', family: 4 }), true)).toBeInstanceOf(AddressRefused)
    expect(await resolve(resolving(), true)).toBeInstanceOf(AddressRefused)
  })

  test('unless it cannot be resolved', async () => {
    const error = Object.assign(new Error('no'), { code: 'ENOTFOUND' })
    expect(
      await resolve(
        guardedLookup(isPublicAddress, (_host, _options, callback) => callback(error, '')),
        true,
      ),
    ).toBe(error)
  })
})
