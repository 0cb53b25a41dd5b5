import { expect, test } from 'vitest'
import { awsSignature, isRegion } from './aws.ts'

/** From Amazon's test suite for Signature Version 4. */
const keys = { apiKey: 'AKIDEXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', region: 'us-east-1' }
const now = new Date('2015-08-30T12:36:00.000Z')
const signed =
  'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date'

test.each([
  ['get-vanilla', 'GET', '', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['post-vanilla', 'POST', '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '?Param2=value2&Param1=value1',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
] as const)('%s is signed as the vendor signs it', async (_, method, query, signature) => {
  const sign = awsSignature('service', keys, now)
  expect(await sign({ method, url: `https://example.amazonaws.com/${query}`, body: '' })).toEqual({
    authorization: `${signed}, Signature=${signature}`,
    'x-amz-date': '20150830T123600Z',
  })
})

test('a region is a valid part of a host name', () => {
  expect(['us-east-1', 'eu-central-2', 'us-gov-west-1', 'ap-southeast-10'].every(isRegion)).toBe(true)
  expect(['', 'global', 'us-east-1.evil.example/', 'eu-west-1#', 'US-EAST-1'].some(isRegion)).toBe(false)
})
