// The content of a new layout.
import type { EmailEditorType } from '../../ui/email/email-editor.tsx'

export const htmlStarter = `<!doctype html>
<html>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
  </head>
  <body style="margin: 0; padding: 0; background-color: #f4f4f5; font-family: -apple-system, 'Segoe UI', Roboto, sans-serif; color: #18181b;">
    <table role="presentation" width="100%" cellpadding="0" cellspacing="0">
      <tr>
        <td align="center" style="padding: 24px 12px;">
          <table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width: 600px; background-color: #ffffff; border-radius: 8px;">
            <tr>
              <td style="padding: 24px 32px; border-bottom: 1px solid #e4e4e7; font-size: 16px; font-weight: 600;">Your company</td>
            </tr>
            <tr>
              <td style="padding: 32px; font-size: 14px; line-height: 22px;">
                {{content}}
              </td>
            </tr>
            <tr>
              <td style="padding: 24px 32px; border-top: 1px solid #e4e4e7; font-size: 12px; line-height: 18px; color: #52525b;">
                Sent to {{subscriber.email}}
              </td>
            </tr>
          </table>
        </td>
      </tr>
    </table>
  </body>
</html>
`

const paragraph = (...content: object[]) => ({ type: 'paragraph', attrs: { textAlign: 'left' }, content })

const blockStarter = JSON.stringify({
  type: 'doc',
  content: [
    paragraph({ type: 'text', text: 'Your company', marks: [{ type: 'bold' }] }),
    paragraph({ type: 'variable', attrs: { id: 'content', fallback: null, required: false } }),
    { type: 'horizontalRule' },
    paragraph({ type: 'text', text: 'Sent to ' }, { type: 'variable', attrs: { id: 'subscriber.email' } }),
  ],
})

export const starterOf = (type: EmailEditorType): string => (type === 'html' ? htmlStarter : blockStarter)
