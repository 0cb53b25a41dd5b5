import { expect, test } from 'vitest'
import { networkOf } from './caller-network.ts'

test.each([
  ['one IPv4 address', ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:192.0.2.1'], '192.0.2.1'],
  ['one IPv6 network', ['2001:db8:1:2::1', '2001:DB8:1:2:3:4:5:6', '2001:0db8:0001:0002::'], '2001:db8:1:2'],
  ['one link', ['fe80::1%eth0', 'fe80::2%eth0'], 'fe80:0:0:0'],
  ['this machine', ['::1'], '0:0:0:0'],
])('all addresses of %s count as one caller', (_, addresses, network) => {
  expect(addresses.map(networkOf)).toEqual(addresses.map(() => network))
})

test('the neighbor is another caller', () => {
  expect(networkOf('2001:db8:1:3::1')).not.toBe(networkOf('2001:db8:1:2::1'))
})
