import { Page as Frame } from '../../ui/page.tsx'

export function Page() {
  return (
    <Frame title="Start" width="content">
      <p>Welcome.</p>
    </Frame>
  )
}
