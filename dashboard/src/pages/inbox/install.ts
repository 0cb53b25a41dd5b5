// The code that puts the inbox into a page, with this environment's identifier and the chosen settings filled in.

export interface InboxSettings {
  theme: 'system' | 'light' | 'dark'
  placement: 'bottom-end' | 'bottom-start' | 'top-end' | 'top-start'
  /** Empty: the language of the page. */
  locale: string
  /** A tab for each, besides the one with everything. */
  tabs: readonly string[]
}

export interface Place {
  /** The URL of the server: `https://belfry.example.com`. */
  origin: string
  applicationIdentifier: string
  /** Whether the page has to bring a hash of the subscriber id. */
  requiresHash: boolean
}

export const frameworks = [
  { value: 'html', label: 'HTML' },
  { value: 'react', label: 'React' },
  { value: 'vue', label: 'Vue' },
  { value: 'next', label: 'Next.js' },
  { value: 'novu-js', label: '@novu/js' },
  { value: 'novu-react', label: '@novu/react' },
] as const
export type Framework = (typeof frameworks)[number]['value']

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

export const tabsOf = (tags: readonly string[]) =>
  tags.length === 0
    ? undefined
    : [{ label: 'All', filter: {} }, ...tags.map((tag) => ({ label: capital(tag), filter: { tags: [tag] } }))]

/** The attributes that differ from the defaults. */
export function attributesOf({ theme, placement, locale, tabs }: InboxSettings): Record<string, string> {
  const list = tabsOf(tabs)
  return {
    ...(theme === 'system' ? {} : { theme }),
    ...(placement === 'bottom-end' ? {} : { placement }),
    ...(locale === '' ? {} : { locale }),
    ...(list ? { tabs: JSON.stringify(list) } : {}),
  }
}

const quoted = (value: string) =>
  value.includes('"')
    ? `'${value.replaceAll('&', '&amp;').replaceAll("'", '&#39;')}'`
    : `"${value.replaceAll('&', '&amp;')}"`

const element = (
  attributes: ReadonlyArray<readonly [name: string, written: string]>,
  pad = '',
  close = '></belfry-inbox>',
) =>
  [`${pad}<belfry-inbox`, ...attributes.map(([name, written]) => `${pad}  ${name}=${written}`)].join('\n') +
  `\n${pad}${close}`

const fixed = (settings: InboxSettings) =>
  Object.entries(attributesOf(settings)).map(([name, value]) => [name, quoted(value)] as const)

/** In JSX a quoted attribute knows no escapes but entities, which `quoted` writes. */
const writers: Record<Framework, (settings: InboxSettings, place: Place) => string> = {
  html: (settings, { origin, applicationIdentifier, requiresHash }) =>
    [
      `<script src="${origin}/inbox.js" async></script>`,
      '',
      element([
        ['application-identifier', `"${applicationIdentifier}"`],
        ['subscriber-id', '"SUBSCRIBER_ID"'],
        ...(requiresHash ? [['subscriber-hash', '"SUBSCRIBER_HASH"'] as const] : []),
        ...fixed(settings),
      ]),
    ].join('\n'),

  react: (settings, { origin, applicationIdentifier, requiresHash }) =>
    [
      `// In index.html: <script src="${origin}/inbox.js" async></script>`,
      `export function Inbox({ subscriberId${requiresHash ? ', subscriberHash' : ''} }) {`,
      '  return (',
      element(
        [
          ['application-identifier', `"${applicationIdentifier}"`],
          ['subscriber-id', '{subscriberId}'],
          ...(requiresHash ? [['subscriber-hash', '{subscriberHash}'] as const] : []),
          ...fixed(settings),
        ],
        '    ',
        '/>',
      ),
      '  )',
      '}',
    ].join('\n'),

  vue: (settings, { origin, applicationIdentifier, requiresHash }) =>
    [
      `<!-- In index.html: <script src="${origin}/inbox.js" async></script> -->`,
      "<!-- In vite.config.js: vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('belfry-') } } }) -->",
      '<script setup>',
      `defineProps(['subscriberId'${requiresHash ? ", 'subscriberHash'" : ''}])`,
      '</script>',
      '',
      '<template>',
      element(
        [
          ['application-identifier', `"${applicationIdentifier}"`],
          [':subscriber-id', '"subscriberId"'],
          ...(requiresHash ? [[':subscriber-hash', '"subscriberHash"'] as const] : []),
          ...fixed(settings),
        ],
        '  ',
        '/>',
      ),
      '</template>',
    ].join('\n'),

  next: (settings, { origin, applicationIdentifier, requiresHash }) =>
    [
      "'use client'",
      "import Script from 'next/script'",
      '',
      `export function Inbox({ subscriberId${requiresHash ? ', subscriberHash' : ''} }) {`,
      '  return (',
      '    <>',
      `      <Script src="${origin}/inbox.js" strategy="afterInteractive" />`,
      element(
        [
          ['application-identifier', `"${applicationIdentifier}"`],
          ['subscriber-id', '{subscriberId}'],
          ...(requiresHash ? [['subscriber-hash', '{subscriberHash}'] as const] : []),
          ...fixed(settings),
        ],
        '      ',
        '/>',
      ),
      '    </>',
      '  )',
      '}',
    ].join('\n'),

  'novu-js': (_settings, { origin, applicationIdentifier, requiresHash }) =>
    [
      "import { Novu } from '@novu/js'",
      '',
      'const novu = new Novu({',
      `  applicationIdentifier: '${applicationIdentifier}',`,
      "  subscriber: { subscriberId: 'SUBSCRIBER_ID' },",
      ...(requiresHash ? ["  subscriberHash: 'SUBSCRIBER_HASH',"] : []),
      `  backendUrl: '${origin}',`,
      '  // Without it the client opens its socket elsewhere.',
      `  socketUrl: '${origin}',`,
      '})',
      '',
      'const { data } = await novu.notifications.list()',
    ].join('\n'),

  'novu-react': (settings, { origin, applicationIdentifier, requiresHash }) =>
    [
      "import { Inbox } from '@novu/react'",
      '',
      `export function Notifications({ subscriberId${requiresHash ? ', subscriberHash' : ''} }) {`,
      '  return (',
      '    <Inbox',
      `      applicationIdentifier="${applicationIdentifier}"`,
      '      subscriber={subscriberId}',
      ...(requiresHash ? ['      subscriberHash={subscriberHash}'] : []),
      `      backendUrl="${origin}"`,
      `      socketUrl="${origin}"`,
      ...(settings.tabs.length > 0 ? [`      tabs={${JSON.stringify(tabsOf(settings.tabs))}}`] : []),
      ...(settings.placement === 'bottom-end' ? [] : [`      placement="${settings.placement}"`]),
      '    />',
      '  )',
      '}',
    ].join('\n'),
}

export const installCode = (framework: Framework, settings: InboxSettings, place: Place): string =>
  writers[framework](settings, place)

export const hashLanguages = [
  { value: 'node', label: 'Node.js' },
  { value: 'python', label: 'Python' },
  { value: 'ruby', label: 'Ruby' },
  { value: 'php', label: 'PHP' },
  { value: 'go', label: 'Go' },
  { value: 'java', label: 'Java' },
] as const
export type HashLanguage = (typeof hashLanguages)[number]['value']

/** A whole program each: it prints the hash of one subscriber id. */
export const hashCode: Record<HashLanguage, string> = {
  node: `import { createHmac } from 'node:crypto'

const subscriberHash = (subscriberId) =>
  createHmac('sha256', process.env.BELFRY_INBOX_SECRET).update(subscriberId).digest('hex')

console.log(subscriberHash('ada'))`,

  python: `import hashlib
import hmac
import os

def subscriber_hash(subscriber_id: str) -> str:
    secret = os.environ["BELFRY_INBOX_SECRET"].encode()
    return hmac.new(secret, subscriber_id.encode(), hashlib.sha256).hexdigest()

print(subscriber_hash("ada"))`,

  ruby: `require 'openssl'

def subscriber_hash(subscriber_id)
  OpenSSL::HMAC.hexdigest('sha256', ENV.fetch('BELFRY_INBOX_SECRET'), subscriber_id)
end

puts subscriber_hash('ada')`,

  php: `<?php
function subscriberHash(string $subscriberId): string {
    return hash_hmac('sha256', $subscriberId, getenv('BELFRY_INBOX_SECRET'));
}

echo subscriberHash('ada');`,

  go: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
)

func subscriberHash(subscriberID string) string {
	mac := hmac.New(sha256.New, []byte(os.Getenv("BELFRY_INBOX_SECRET")))
	mac.Write([]byte(subscriberID))
	return hex.EncodeToString(mac.Sum(nil))
}

func main() {
	fmt.Println(subscriberHash("ada"))
}`,

  java: `import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class SubscriberHash {
    static String subscriberHash(String subscriberId) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        byte[] secret = System.getenv("BELFRY_INBOX_SECRET").getBytes(StandardCharsets.UTF_8);
        mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        return HexFormat.of().formatHex(mac.doFinal(subscriberId.getBytes(StandardCharsets.UTF_8)));
    }

    public static void main(String[] args) throws Exception {
        System.out.println(subscriberHash("ada"));
    }
}`,
}
