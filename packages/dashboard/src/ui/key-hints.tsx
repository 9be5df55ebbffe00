// The line at the foot: the keys of this screen.
import { Fragment } from 'react'

export interface KeyHint {
  /** 'g j' are two keys in a row. */
  readonly keys: string
  readonly does: string
}

export const KeyHints = ({ hints, end }: { hints: readonly KeyHint[]; end?: KeyHint }) => (
  <footer className="keys">
    {hints.map((hint) => (
      <Hint key={hint.keys} {...hint} />
    ))}
    {end && <Hint {...end} className="end" />}
  </footer>
)

const Hint = ({ keys, does, className }: KeyHint & { className?: string }) => (
  <span className={className}>
    {keys.split(' ').map((key) => (
      <Fragment key={key}>
        <kbd>{key}</kbd>{' '}
      </Fragment>
    ))}
    {does}
  </span>
)
