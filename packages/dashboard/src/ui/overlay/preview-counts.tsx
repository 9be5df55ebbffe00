import { capitalised, counted, formatNumber } from '../text/format.ts'
import type { Preview } from './preview-dialog.tsx'

export type Outcome = 'changed' | 'already' | 'refused'

/** What would be done, what is being done already, and what is refused and why. */
export interface PreviewCountsProps {
  preview: Preview
  noun: string
  /** 'redriven'. */
  done: string
}

export function PreviewCounts({ preview, noun, done }: PreviewCountsProps) {
  const { willChange, already, refused, reasons, isCapped = false, noUndo } = preview
  const why = (outcome: Outcome) => reasons.filter((each) => each.outcome === outcome && each.reason !== null)
  return (
    <>
      <dl className="counts">
        <dt className={willChange > 0 ? 't-ok' : 'zero'}>
          {formatNumber(willChange)}
          {isCapped && '+'}
        </dt>
        <dd>{`${willChange === 1 ? noun : `${noun}s`} will be ${done}`}</dd>
        {already > 0 && (
          <>
            <dt>{formatNumber(already)}</dt>
            <dd>
              so already, and left as they are
              <Reasons of={why('already')} />
            </dd>
          </>
        )}
        {refused > 0 && (
          <>
            <dt className="t-late">{formatNumber(refused)}</dt>
            <dd>
              will be refused
              <Reasons of={why('refused')} />
            </dd>
          </>
        )}
      </dl>
      {noUndo && <p className="note">It cannot be taken back: {noUndo}.</p>}
    </>
  )
}

function Reasons({ of }: { of: Preview['reasons'] }) {
  if (of.length === 0) return null
  return (
    <ul className="note">
      {of.map(({ reason, count }) => (
        <li key={reason}>
          {of.length > 1 && `${counted(count, 'of them', 'of them')}: `}
          {reason && `${capitalised(reason)}.`}
        </li>
      ))}
    </ul>
  )
}
