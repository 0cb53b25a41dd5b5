// The document around blocks without a layout.
import { box, FONT, style } from './block-html.ts'

// Stacks columns on a phone; everything else is in style attributes.
const css = [
  'body,table,td,a{-webkit-text-size-adjust:100%;-ms-text-size-adjust:100%}',
  'table{border-spacing:0;mso-table-lspace:0pt;mso-table-rspace:0pt}',
  'img{-ms-interpolation-mode:bicubic}',
  'a[x-apple-data-detectors]{color:inherit!important;text-decoration:none!important}',
  '@media only screen and (max-width:425px){.column{display:block!important;width:100%!important;box-sizing:border-box!important;padding-left:0!important;padding-right:0!important}}',
].join('')

const MARK = '\0'
const container = box(
  ' align="center" width="100%"',
  ` align="center"${style({ padding: '1rem' })}`,
  box(
    ` width="100%"${style({ width: '100%', 'max-width': 600, 'min-width': 300, margin: '0 auto' })}`,
    ` align="left"${style({}, FONT)}`,
    [MARK],
  ),
).join('')

const [before = '', after = ''] = [
  '<!DOCTYPE html><html lang="en" dir="ltr"><head>',
  '<meta http-equiv="Content-Type" content="text/html; charset=utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  '<meta name="x-apple-disable-message-reformatting">',
  '<meta name="format-detection" content="telephone=no,address=no,email=no,date=no,url=no">',
  '<meta name="color-scheme" content="light"><meta name="supported-color-schemes" content="light">',
  `<style>${css}</style></head>`,
  `<body${style({ margin: '0', padding: '0' })}>${container}</body></html>`,
]
  .join('')
  .split(MARK)

export const withShell = (html: string) => before + html + after
