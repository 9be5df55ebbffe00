// The head of a screen: what is the matter, in one sentence, which is the h1.
import type { ReactNode } from 'react'

export interface VerdictProps {
  /** A sentence; <Em> marks what matters in it. */
  children: ReactNode
  /** Facts below it, each a short phrase. Empty ones are left out. */
  facts?: readonly ReactNode[]
}

export function Verdict({ children, facts = [] }: VerdictProps) {
  const shown = facts.filter((fact) => fact !== null && fact !== undefined && fact !== false && fact !== '')
  return (
    <>
      <h1 className="verdict">{children}</h1>
      {shown.length > 0 && (
        <p className="sub">
          {shown.map((fact, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the facts of a screen have a fixed order
            <span key={index}>{fact}</span>
          ))}
        </p>
      )}
    </>
  )
}

const TONES = { late: undefined, fail: 'bad', ok: 'good' } as const

/** What matters in a verdict, in its colour. The sentence says the same without it. */
export const Em = ({ tone = 'late', children }: { tone?: keyof typeof TONES; children: ReactNode }) => (
  <em className={TONES[tone]}>{children}</em>
)
