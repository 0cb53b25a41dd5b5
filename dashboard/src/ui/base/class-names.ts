import { type ClassValue, clsx } from 'clsx'
import { extendTailwindMerge } from 'tailwind-merge'

// Our own names in styles.css, so that a later class wins over an earlier one of its kind and of no other.
const merge = extendTailwindMerge({
  extend: {
    theme: {
      text: ['2xs', 'xs', 'code', 'sm', 'base', 'lg', 'title'],
      radius: ['sm', 'control', 'surface', 'full'],
      shadow: ['float'],
    },
  },
})

/** Joins class names; of two that set the same thing, the later one counts. */
export const cn = (...classes: ClassValue[]) => merge(clsx(classes))
