update host_connection set previous_webhook_secret = 'fake-secret', previous_secret_until = '2026-01-05';
