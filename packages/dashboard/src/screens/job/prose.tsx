// Sentences of the server with their moments as clocks, and their jobs as links.
import { Fragment } from 'react'
import { Link } from '../../ui/link.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'

const PARTS = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|\bjobs? \d{1,19}\b)/

export const Prose = ({ text }: { text: string }) =>
  text.split(PARTS).map((part, index) => {
    const key = index
    if (/^\d{4}-\d\d-\d\dT/.test(part)) return <RelativeTime key={key} at={part} as="moment" />
    const [, word, id] = /^(jobs?) (\d+)$/.exec(part) ?? []
    if (id === undefined) return <Fragment key={key}>{part}</Fragment>
    return (
      <Fragment key={key}>
        {word} <Link to={`/jobs/${id}`}>{id}</Link>
      </Fragment>
    )
  })
