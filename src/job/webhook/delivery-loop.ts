// Checks every half second for due deliveries and sends them, several endpoints at a time. An endpoint that
// is being served is skipped until it is done, so a slow one never delays the others.

import { deliverTo, type DeliveryDeps } from './deliver.ts';
import { listDueEndpoints } from '#db/webhook/delivery-store.ts';

const pollMs = 500;
/** Endpoints served at once by one process. */
const servedMax = 100;

export type DeliveryLoop = { readonly stop: () => Promise<void> };

export function startDeliveries(deps: DeliveryDeps): DeliveryLoop {
  const { cell, clock, log } = deps;
  const served = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  const state = { isStopped: false };

  const serve = async (endpointId: string) => {
    try {
      await deliverTo({ ...deps, isEnding: () => state.isStopped }, endpointId);
    } catch (error) {
      log.warn({ cell: cell.name, endpoint: endpointId, err: error }, 'webhook delivery failed');
    } finally {
      served.delete(endpointId);
    }
  };
  const pollDeliveries = async () => {
    try {
      for (const endpointId of await listDueEndpoints(cell.reader, clock.now()))
        if (!served.has(endpointId) && served.size < servedMax) served.set(endpointId, serve(endpointId));
    } catch (error) {
      log.warn({ cell: cell.name, err: error }, 'could not read due webhook deliveries');
    }
    if (!state.isStopped) timer = setTimeout(() => void (looking = pollDeliveries()), pollMs);
  };
  looking = pollDeliveries();
  return {
    stop: async () => {
      state.isStopped = true;
      clearTimeout(timer);
      await looking;
      await Promise.all(served.values());
    },
  };
}
