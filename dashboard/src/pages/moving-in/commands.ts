// The command of each importer, as somebody types it.

export const sources = [
  {
    value: 'novu',
    label: 'Novu',
    needs: 'It needs a secret key of Novu, or a folder of mongoexport files instead of the address.',
  },
  {
    value: 'knock',
    label: 'Knock',
    needs: 'It reads the folder that "knock pull --all" writes, and users and preferences as JSON lines.',
  },
  {
    value: 'courier',
    label: 'Courier',
    needs: 'It reads a folder with notifications/, brands/, profiles.jsonl and preferences.jsonl.',
  },
  { value: 'onesignal', label: 'OneSignal', needs: 'It reads the CSV export of subscriptions, with external ids.' },
  {
    value: 'pinpoint',
    label: 'Pinpoint',
    needs: 'It reads exports of endpoints as JSON lines, also compressed, and templates as JSON.',
  },
  { value: 'csv', label: 'CSV', needs: 'Say which column is which field; anything of your own goes under data.' },
] as const

export type SourceName = (typeof sources)[number]['value']

const arguments_: Record<SourceName, string> = {
  novu: 'novu --from https://api.novu.co',
  knock: 'knock ./knock --users users.jsonl --preferences preferences.jsonl',
  courier: 'courier ./courier',
  onesignal: 'onesignal subscriptions.csv',
  pinpoint: 'pinpoint endpoints.json.gz templates.json',
  csv: 'csv people.csv --map subscriberId=user_id,email=mail,data.plan=plan',
}

export function commandOf(source: SourceName, { url, apiKey }: { url: string; apiKey: string }): string {
  const command = `npx @belfry/cli import ${arguments_[source]}`
  return [
    `export BELFRY_URL=${url}`,
    `export BELFRY_API_KEY=${apiKey}`,
    ...(source === 'novu' ? ['export NOVU_SECRET_KEY=…'] : []),
    `${command} --report moving-in.md`,
    `${command} --apply --report moving-in.md`,
  ].join('\n')
}
