// A stack, led by the frames of the program itself: those of Node and of libraries are folded until somebody wants them.
import { useState } from 'react'
import { Button } from './button.tsx'
import { CodeBlock, type CodeBlockProps } from './code-block.tsx'
import { counted } from './text/format.ts'

const isFrame = (line: string) => /^\s*at /.test(line)
/** Of Node, of packages, and of the engine, which calls the handler. */
const isForeign = (line: string) =>
  isFrame(line) &&
  /\(?node:|node_modules\/|packages\/engine\/(dist|src)\/|at (async )?new Promise \(<anonymous>\)/.test(line)

/** The stack without foreign frames, and how many those are. A stack of nothing else stays whole. */
export function ownFrames(stack: string): { text: string; folded: number } {
  const lines = stack.split('\n')
  const kept = lines.filter((line) => !isForeign(line))
  if (!kept.some(isFrame)) return { text: stack, folded: 0 }
  return { text: kept.join('\n'), folded: lines.length - kept.length }
}

export function StackBlock({ text: stack, ...rest }: CodeBlockProps) {
  const [isWhole, setWhole] = useState(false)
  const { text, folded } = ownFrames(stack)
  return (
    <>
      <CodeBlock text={isWhole ? stack : text} {...rest} />
      {folded > 0 && (
        <Button size="sm" variant="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole
            ? 'Only the frames of the program'
            : `Show ${counted(folded, 'frame')} of Node and of libraries as well`}
        </Button>
      )}
    </>
  )
}
