// Signs requests to Amazon's services (Signature Version 4) with an integration's keys.
import type { VendorRequest } from './provider.ts'

export interface AwsKeys {
  apiKey: string
  secretKey: string
  region: string
}

/** For the `sign` of a request. The library is loaded with the first one. */
export const awsSignature =
  (service: string, { apiKey, secretKey, region }: AwsKeys, now: Date): NonNullable<VendorRequest['sign']> =>
  async ({ method, url, body }) => {
    const { AwsV4Signer } = await import('aws4fetch')
    const signer = new AwsV4Signer({
      method,
      url,
      body,
      service,
      region,
      accessKeyId: apiKey,
      secretAccessKey: secretKey,
      datetime: `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`,
    })
    const { headers } = await signer.sign()
    return Object.fromEntries([...headers].filter(([name]) => name === 'authorization' || name.startsWith('x-amz-')))
  }

/** The region becomes part of a host name. */
export const isRegion = (region: string): boolean => /^[a-z]{2}(-[a-z]+)+-\d+$/.test(region)
