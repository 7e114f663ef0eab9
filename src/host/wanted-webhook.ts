/** The webhook by which a Git host reports to Signalbox. */
export type WantedWebhook = {
  readonly url: string;
  /** Other URLs that lead to Signalbox just as well: those of connections that share the webhook of an App. */
  readonly sharing: readonly string[];
  readonly secret: string;
  /** A webhook that is there already has another secret. */
  readonly isSecretNew: boolean;
};

export type WebhookAnswer =
  | { readonly kind: 'set' }
  /** It was there already. */
  | { readonly kind: 'unchanged' }
  /** A person has to do it. `reason`: whole sentences. */
  | { readonly kind: 'cannot'; readonly reason: string };

export const cannot = (reason: string): Extract<WebhookAnswer, { kind: 'cannot' }> => ({
  kind: 'cannot',
  reason,
});
