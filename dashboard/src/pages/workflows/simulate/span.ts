// Where a moment stands on the axis.

/** From when to when the axis reaches. */
export interface Span {
  from: number
  to: number
}

export const percentOf = ({ from, to }: Span, at: number): number => ((at - from) / (to - from)) * 100
/** Something outside the axis stands at its edge. */
export const leftOf = (span: Span, at: number): string => `${Math.min(100, Math.max(0, percentOf(span, at)))}%`
