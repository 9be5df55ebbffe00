// A change to many things at once: first what it would do, then the decision, then how far it is, and the way back if there is one.
import { type ReactNode, useEffect, useState } from 'react'
import { Button } from '../button.tsx'
import { ErrorState, Skeleton, sentenceOf } from '../states.tsx'
import { counted, formatNumber } from '../text/format.ts'
import { Dialog } from './dialog.tsx'
import { OperationProgress, type Progress, useProgress } from './operation-progress.tsx'
import { type Outcome, PreviewCounts } from './preview-counts.tsx'

export interface Preview {
  readonly willChange: number
  readonly already: number
  readonly refused: number
  readonly reasons: readonly { readonly outcome: Outcome; readonly reason: string | null; readonly count: number }[]
  /** There were more, which were not counted. */
  readonly isCapped?: boolean
  /** Why it cannot be taken back; null: it can. */
  readonly noUndo?: string | null
}

export interface PreviewDialogProps {
  isOpen: boolean
  onClose: () => void
  /** "Redrive 412 letters" */
  title: ReactNode
  /** On the button: 'Redrive', 'Cancel jobs'. */
  verb: string
  /** What is counted: 'letter', 'job'. */
  noun: string
  /** What becomes of them: 'redriven'. Default: 'changed'. */
  done?: string
  isDangerous?: boolean
  preview: () => Promise<Preview>
  /** Asked again when this changes, such as after another choice in `children`. */
  previewKey?: string
  /** Does it, or starts it. With an id it is followed by `follow`. */
  onRun: () => Promise<string | undefined>
  follow?: (id: string) => Promise<Progress>
  onStop?: (id: string) => Promise<unknown>
  onUndo?: (id: string) => Promise<unknown>
  /** Choices, such as a rate. */
  children?: ReactNode
}

/** Above so many the number is typed, because a click is too easily done. */
const TYPE_ABOVE = 1_000

export function PreviewDialog(props: PreviewDialogProps) {
  return props.isOpen ? <OpenPreview {...props} /> : null
}

function OpenPreview(props: PreviewDialogProps) {
  const {
    onClose,
    title,
    verb,
    noun,
    done = 'changed',
    isDangerous = false,
    onRun,
    follow,
    onStop,
    onUndo,
    children,
  } = props
  const { preview, error: previewError, ask } = usePreview(props.preview, props.previewKey)
  const [typed, setTyped] = useState('')
  const [failure, setFailure] = useState<unknown>(null)
  const [operation, setOperation] = useState<string | null>(null)
  const progress = useProgress(operation, follow)
  const run = async () => {
    setFailure(null)
    try {
      const id = await onRun()
      if (id === undefined || follow === undefined) return onClose()
      setOperation(id)
    } catch (error) {
      setFailure(error)
    }
  }
  const reason = whyNot(preview, noun, typed)
  const isRunning = operation !== null
  return (
    <Dialog
      isOpen
      title={title}
      onClose={onClose}
      end={
        isRunning ? (
          <>
            {progress?.isOver === false && onStop && <Button onClick={() => onStop(operation)}>Stop</Button>}
            {progress?.isOver && onUndo && preview?.noUndo === null && (
              <Button onClick={() => onUndo(operation).then(onClose)}>Undo</Button>
            )}
            <Button variant="primary" onClick={onClose}>
              {progress?.isOver ? 'Close' : 'Close; it goes on'}
            </Button>
          </>
        ) : (
          <>
            {preview && reason && <span className="why-not">{reason}</span>}
            <Button onClick={onClose}>Keep everything as it is</Button>
            <Button variant={isDangerous ? 'danger' : 'primary'} disabledBecause={reason} onClick={run}>
              {verb} {preview ? formatNumber(preview.willChange) : ''}
            </Button>
          </>
        )
      }
    >
      {children}
      {previewError !== null && <ErrorState what="The preview could not be made." error={previewError} onRetry={ask} />}
      {failure !== null && <ErrorState what="It was not done." error={sentenceOf(failure)} />}
      {isRunning ? (
        <OperationProgress progress={progress} />
      ) : preview === null ? (
        previewError === null && <Skeleton height={92} />
      ) : (
        <PreviewCounts preview={preview} noun={noun} done={done} />
      )}
      {!isRunning && preview && preview.willChange > TYPE_ABOVE && (
        <label className="inline">
          Type {preview.willChange} to go on:
          <input value={typed} inputMode="numeric" onChange={(event) => setTyped(event.target.value)} />
        </label>
      )}
    </Dialog>
  )
}

function whyNot(preview: Preview | null, noun: string, typed: string): string | null {
  if (preview === null) return 'The preview is being made.'
  if (preview.willChange === 0) return `It would change no ${noun}.`
  const isTyped = preview.willChange <= TYPE_ABOVE || typed.replace(/\D/g, '') === String(preview.willChange)
  return isTyped ? null : `${counted(preview.willChange, noun)}: type the number first.`
}

function usePreview(read: () => Promise<Preview>, key = '') {
  const [preview, setPreview] = useState<Preview | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [turn, setTurn] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is read again for another key or a retry, not for a new closure
  useEffect(() => {
    let isCurrent = true
    setError(null)
    setPreview(null)
    read().then(
      (answer) => isCurrent && setPreview(answer),
      (problem) => isCurrent && setError(problem),
    )
    return () => {
      isCurrent = false
    }
  }, [key, turn])
  return { preview, error, ask: () => setTurn(turn + 1) }
}
