// The page of preferences as people will see it, with the brand that is being typed. The server makes the real one
// (server/src/http/consent/page.ts), with these measures and colors.

interface Brand {
  name: string | null
  logoUrl: string | null
  /** `#rrggbb` */
  primaryColor: string
  postalAddress: string | null
}

const workflows = ['New in the shop', 'Weekly offers']

export function BrandPreview({ brand }: { brand: Brand }) {
  const { name, logoUrl, primaryColor, postalAddress } = brand
  return (
    <figure className="min-w-0">
      <figcaption className="mb-2 text-xs text-muted">The page of preferences</figcaption>
      {/* Always light, as the page is. */}
      <div
        data-brand-preview
        className="rounded-surface border p-4 text-left"
        style={{ background: '#f5f5f5', color: '#1c1c1c', fontSize: 14, lineHeight: 1.5 }}
      >
        <div className="mx-auto max-w-100 rounded-surface p-5" style={{ background: '#fff' }}>
          {logoUrl !== null && <img src={logoUrl} alt="" style={{ maxWidth: 160, maxHeight: 48, marginBottom: 16 }} />}
          {name !== null && (
            <p className="break-words" dir="auto" style={{ fontWeight: 600 }}>
              {name}
            </p>
          )}
          <p style={{ fontSize: 20, fontWeight: 700, lineHeight: 1.3 }}>Your preferences</p>
          <ul className="mt-3">
            {workflows.map((each) => (
              <li key={each} className="flex items-center gap-3 py-2" style={{ borderTop: '1px solid #e0e0e0' }}>
                <span className="flex-1">{each}</span>
                <span className="inline-flex items-center gap-2">
                  <span
                    aria-hidden
                    className="grid size-5 place-items-center rounded-sm text-xs"
                    style={{ background: primaryColor, color: textOn(primaryColor) }}
                  >
                    ✓
                  </span>
                  Email
                </span>
              </li>
            ))}
          </ul>
          <span
            data-button
            className="mt-3 inline-block rounded-control px-5 py-2 font-semibold"
            style={{ background: primaryColor, color: textOn(primaryColor) }}
          >
            Save
          </span>
          {postalAddress !== null && (
            <p className="mt-5 break-words whitespace-pre-line" dir="auto" style={{ fontSize: 13, color: '#595959' }}>
              {postalAddress}
            </p>
          )}
        </div>
      </div>
    </figure>
  )
}

/** Black or white, whichever has more contrast (WCAG 2.2, relative luminance). */
function textOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
  return (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) ? '#000000' : '#ffffff'
}
