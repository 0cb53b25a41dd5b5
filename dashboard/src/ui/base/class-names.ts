import { type ClassValue, clsx } from 'clsx'
import { extendTailwindMerge } from 'tailwind-merge'

// Our own names in styles.css, so that a later class overrides only an earlier one of its kind.
const merge = extendTailwindMerge({
  extend: {
    theme: {
      text: ['2xs', 'xs', 'code', 'sm', 'base', 'lg', 'title'],
      radius: ['sm', 'control', 'surface', 'full'],
      shadow: ['float'],
    },
  },
})

/** Joins class names; of two that set the same property, the later one wins. */
export const cn = (...classes: ClassValue[]) => merge(clsx(classes))
